import { newId } from '../../../core/ids.ts';
import { insertConnection } from '../../../db/queries/tools/nativeConnections.ts';
import type { Connection } from '../../../integrations/toolkits/toolkits.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';
import type { ToolkitRegistry } from '../servers/toolkitRegistry.ts';

let made = 0;

/** A connection to a built-in toolkit; a workspace has one of each at most. Answers with its id. */
export async function connectBuiltin(
  { workspaceId, db }: SeededWorkspace,
  toolkit = 'time',
  name = `Connection ${++made}`,
): Promise<string> {
  const id = newId();
  await insertConnection(db, { workspace_id: workspaceId, id, provider: 'builtin', toolkit_slug: toolkit, name });
  return id;
}

/** A connection to a toolkit of the registry, with an account of its own there. Answers with its id and the account's. */
export async function connectRemote(
  { workspaceId, db }: SeededWorkspace,
  registry: ToolkitRegistry,
  { toolkit = 'slack', status = 'ACTIVE', name = `Connection ${++made}` } = {},
): Promise<{ id: string; accountId: string }> {
  const id = newId();
  const accountId = `ca_${made}_${newId().slice(-12)}`;
  registry.accounts.push({ id: accountId, status, toolkit, user_id: `user-of-${accountId}` });
  await insertConnection(db, {
    workspace_id: workspaceId,
    id,
    provider: 'composio',
    toolkit_slug: toolkit,
    name,
    external_id: accountId,
  });
  return { id, accountId };
}

/** A connection that is not in the database. */
export function connection(toolkit: string, accountId: string | null = null): Connection {
  return {
    id: newId(),
    workspace_id: newId(),
    provider: accountId === null ? 'builtin' : 'composio',
    toolkit_slug: toolkit,
    external_id: accountId,
  };
}

/** Links connections to an agent. */
export async function linkNative(app: TestApp, agentId: string, ids: string[], key?: string): Promise<void> {
  const linked = await app.api('post', `/agents/${agentId}/native-mcps`, key).send({ connectionPublicIds: ids });
  if (linked.body.linked !== ids.length) throw new Error(linked.text);
}

/** The ids of the connections that an agent is linked to, last linked first. */
export async function linkedIds(app: TestApp, agentId: string): Promise<string[]> {
  const { status, text, body } = await app.api('get', `/agents/${agentId}/native-mcps`);
  if (status !== 200) throw new Error(text);
  return body.connections.map(({ publicId }: { publicId: string }) => publicId);
}
