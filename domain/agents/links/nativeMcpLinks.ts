import { fault } from '../../../core/errors.ts';
import { findConnections } from '../../../db/queries/tools/nativeConnections.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { DraftContext } from '../draft/draft.ts';
import { listLinks } from './links.ts';

/**
 * Makes sure, before a link is changed, that the connection's registry can be reached: no link of this kind changes while nobody
 * knows what state its connection is in. Throws AGENT_NOT_FOUND, NATIVE_MCP_CONNECTION_NOT_FOUND, TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export async function askAboutLink(
  context: DraftContext & { runtime: Pick<Runtime, 'toolkits'> },
  agentId: string,
  connectionId: string,
): Promise<void> {
  const { db, workspaceId, runtime } = context;
  const links = await listLinks(context, agentId, 'native_mcp');
  if (!links.some(({ target_id }) => target_id === connectionId)) throw fault('NATIVE_MCP_CONNECTION_NOT_FOUND');
  await runtime.toolkits.states(await findConnections(db, workspaceId, [connectionId]));
}
