import { displayApiKey, hashApiKey, mintApiKey } from '../core/apiKey.ts';
import type { Clock } from '../core/clock.ts';
import { newId } from '../core/ids.ts';
import type { Database } from '../db/connect.ts';
import { insertApiKey } from '../db/queries/workspaces/apiKeys.ts';
import { insertWorkspace, selectWorkspaces } from '../db/queries/workspaces/workspaces.ts';
import { inTransaction } from '../db/transaction.ts';
import { addAgent } from '../domain/agents/addAgent.ts';
import { changeConfig } from '../domain/agents/config/changeConfig.ts';
import { publishDraft } from '../domain/agents/versions/publishDraft.ts';
import { configureConnection, connectAgent } from '../domain/channels/connections.ts';
import { BUILTIN_MODEL } from '../runtime/models/catalogue.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** What the first start prints. */
export interface Demo {
  workspaceId: string;
  agentId: string;
  apiKey: string;
  /** The id of its chat page. */
  chatId: string;
}

/**
 * Makes the workspace `demo` with a published agent on the built-in model, which has a chat page, when there is no workspace at all. The key is
 * in the answer and nowhere else.
 */
export async function seedDemo(database: Database, runtime: Runtime, clock: Clock): Promise<Demo | undefined> {
  if ((await selectWorkspaces(database.system)).length > 0) return undefined;
  const workspaceId = newId();
  const apiKey = mintApiKey();
  await inTransaction(database.system, async (trx) => {
    await insertWorkspace(trx, { id: workspaceId, name: 'demo' });
    await insertApiKey(trx, {
      id: newId(),
      workspaceId,
      name: 'demo',
      hash: hashApiKey(apiKey),
      display: displayApiKey(apiKey),
    });
  });
  const context = { db: database.forWorkspace(workspaceId), workspaceId, runtime, clock };
  const agent = await addAgent(context, { name: 'Demo', description: 'Shows that everything works.' });
  await changeConfig(context, agent.id, {
    aiModelPublicId: BUILTIN_MODEL.publicId,
    systemPrompt: 'You welcome people to Guildhall and answer in one or two sentences.',
  });
  await publishDraft(context, agent.id, 'First version.');
  const { id: chatId } = await connectAgent(context, agent.id, { channelType: 'web_chat' });
  const channelSpecificConfig = { title: 'Guildhall', welcomeMessage: 'Welcome to Guildhall. Write something.' };
  await configureConnection(context, agent.id, chatId, { channelSpecificConfig });
  return { workspaceId, agentId: agent.id, apiKey, chatId };
}
