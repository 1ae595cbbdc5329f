import { addressFor, keyFromFlags, profileName } from '../../login/credential.ts';
import { keyFault, keyInText } from '../../login/key.ts';
import { loginExists, type Profiles, readProfiles, saveProfile } from '../../login/profiles.ts';
import type { Register } from '../commands.ts';
import type { Context } from '../context.ts';
import { examples } from '../examples.ts';
import { Failure } from '../failure.ts';
import { askHealth } from './health.ts';

/** `guildhall auth login`: the key's form is checked, then the service is asked, and only then anything is saved. */
export const register: Register = (command, context) => {
  command
    .option('--force', 'replace the login that is saved under this profile')
    .addHelpText(
      'after',
      examples([
        'guildhall auth login',
        'guildhall auth login --base-url https://api.example.com --profile production',
        'guildhall auth login --api-key-file ./key.txt --force',
      ]),
    )
    .action(async ({ force = false }: { force?: boolean }) => await logIn(context(), force));
};

async function logIn(context: Context, force: boolean): Promise<void> {
  const { flags, io, say, surroundings } = context;
  const name = profileName(flags, surroundings);
  const profiles: Profiles = await readProfiles(surroundings).catch((error) => {
    if (force) return {};
    throw error;
  });
  const present = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  // Nobody should have to look for a key only to hear that it is not saved.
  if (present && !force) throw loginExists(name);
  const { baseUrl } = addressFor(flags, surroundings, present);
  if (isOpenNetwork(baseUrl)) say(`Warning: ${baseUrl} is not encrypted. Others on the way can read the key.`);
  const apiKey = await newKey(context, baseUrl);
  const { workspacePublicId, apiKeyPublicId } = await askHealth(context, { apiKey, baseUrl });
  const file = await saveProfile(surroundings, name, { apiKey, baseUrl, workspacePublicId, apiKeyPublicId }, { force });
  say(`Logged in at ${baseUrl}. The login is saved in ${file}.`);
  if (io.env.GUILDHALL_API_KEY) say('Note: GUILDHALL_API_KEY is set, and counts before the saved login.');
  await context.print({ workspacePublicId, apiKeyPublicId, baseUrl, profile: name });
}

async function newKey(context: Context, baseUrl: string): Promise<string> {
  const { flags, surroundings } = context;
  if (flags.apiKey !== undefined) context.warnOfVisibleKey();
  const given = await keyFromFlags(flags, surroundings);
  const question = `API key for ${baseUrl} (it is not shown)`;
  const key = keyInText(given?.key ?? (await context.ask(question, { hidden: true, flag: '--api-key-file FILE' })));
  const fault = key === undefined ? 'What was entered is not one key.' : keyFault(key);
  if (key !== undefined && fault === undefined) return key;
  throw new Failure('bad_key', 4, `${fault} Nothing was saved.`, {
    hint: 'Copy the whole key from where it was created.',
  });
}

/** Whether a key on its way to an address can be read by others: plain HTTP, and not to this machine. */
function isOpenNetwork(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
