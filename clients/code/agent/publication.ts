import { agentWarningsText } from '../../sdk/agentWarnings.ts';
import type { ChangeContext } from '../kind.ts';

/** Publishes the draft of an agent if it has changes, and warns of what is silently wrong with it. */
export async function publishDraftOf(
  agentPublicId: string,
  name: string,
  { api, idempotencyKey, warn }: Pick<ChangeContext, 'api' | 'idempotencyKey' | 'warn'>,
): Promise<void> {
  const path = { agentPublicId };
  const agent = await api.call('getAgent', { path });
  if (!agent.hasUnpublishedChanges && agent.publishedVersionNumber !== null) return;
  let warnings: string | undefined;
  const onResponse = (response: Response) => {
    warnings = agentWarningsText(response);
  };
  await api.call('publishAgent', { path, body: {}, idempotencyKey, onResponse });
  if (warnings !== undefined) warn(`The agent ${JSON.stringify(name)} was published with warnings: ${warnings}`);
}
