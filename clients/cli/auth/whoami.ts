import type { Register } from '../commands.ts';
import { examples } from '../examples.ts';
import { askHealth } from './health.ts';

/** `guildhall auth whoami`: asks the service, so that what it tells is true now. */
export const register: Register = (command, context) => {
  command
    .addHelpText(
      'after',
      examples(['guildhall auth whoami', 'guildhall auth whoami --json | jq -r .workspacePublicId']),
    )
    .action(async () => {
      const { login, print, say } = context();
      const { apiKey, baseUrl, source, baseUrlSource, profile } = await login();
      const { workspacePublicId, apiKeyPublicId } = await askHealth(context(), { apiKey, baseUrl }).catch((error) => {
        // Where a key comes from is what people ask when it is refused.
        say(`The key comes from ${source}. The address ${baseUrl} comes from ${baseUrlSource}.`);
        throw error;
      });
      await print({
        workspacePublicId,
        apiKeyPublicId,
        baseUrl,
        profile: profile ?? null,
        credentialSource: source,
        baseUrlSource,
      });
    });
};
