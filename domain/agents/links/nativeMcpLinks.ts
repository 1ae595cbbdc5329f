import { fault } from '../../../core/errors.ts';
import type { LinkedRow } from '../../../db/queries/agents/agentLinks.ts';
import {
  findConnections,
  listLinkableConnections,
  type NativeConnectionRow,
} from '../../../db/queries/tools/nativeConnections.ts';
import { ACTIVE, type ConnectionState } from '../../../integrations/toolkits/toolkits.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { DraftContext } from '../draft/draft.ts';
import { changeLink, draftAgent, linkTargets, listLinks, unlinkTarget } from './links.ts';

/** What native MCP links need from their caller: the states of connections are their registries'. */
export type NativeMcpContext = DraftContext & { runtime: Pick<Runtime, 'toolkits'> };

/** A connection with its state at the registry, and the agent's link to it. */
export interface ConnectionWithState {
  row: NativeConnectionRow;
  state: ConnectionState;
  link: LinkedRow | null;
}

/** The connections that an agent is linked to, last linked first. Throws AGENT_NOT_FOUND, TOOLKIT_REGISTRY_UNAVAILABLE. */
export async function listLinkedConnections(
  context: NativeMcpContext,
  agentId: string,
): Promise<ConnectionWithState[]> {
  const { db, workspaceId, runtime } = context;
  const links = await listLinks(context, agentId, 'native_mcp');
  const ids = links.map(({ target_id }) => target_id);
  const rows = await findConnections(db, workspaceId, ids);
  const states = await runtime.toolkits.states(rows);
  return links.flatMap((link) => {
    const row = rows.find(({ id }) => id === link.target_id);
    const state = states.get(link.target_id);
    return row && state ? [{ row, state, link }] : [];
  });
}

/** The active connections that an agent can be linked to, newest first. Throws AGENT_NOT_FOUND, TOOLKIT_REGISTRY_UNAVAILABLE. */
export async function listActiveConnections(
  context: NativeMcpContext,
  agentId: string,
): Promise<ConnectionWithState[]> {
  const { db, workspaceId, runtime } = context;
  const agent = await draftAgent(context, agentId, 'native_mcp');
  const rows = await listLinkableConnections(db, workspaceId, agent.id);
  const states = await runtime.toolkits.states(rows);
  return rows.flatMap((row) => {
    const state = states.get(row.id);
    return state?.status === ACTIVE ? [{ row, state, link: null }] : [];
  });
}

/**
 * Finds out which of the connections an agent can be linked to: those that are active, and those that it is linked to. Returns their
 * ids, in lower case. Throws AGENT_NOT_FOUND, TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export async function findLinkableConnections(
  context: NativeMcpContext,
  agentId: string,
  connectionIds: readonly string[],
): Promise<{ active: string[]; linked: ReadonlySet<string> }> {
  const { db, workspaceId, runtime } = context;
  const links = await listLinks(context, agentId, 'native_mcp');
  const linked = new Set(links.map(({ target_id }) => target_id));
  const fresh = [...new Set(connectionIds.map((id) => id.toLowerCase()))].filter((id) => !linked.has(id));
  const rows = await findConnections(db, workspaceId, fresh);
  const states = await runtime.toolkits.states(rows);
  return { active: fresh.filter((id) => states.get(id)?.status === ACTIVE), linked };
}

/** Links an agent to active connections, and leaves present links as they are. Returns the ids that are linked then. Throws AGENT_NOT_FOUND. */
export async function addConnections(
  context: DraftContext,
  agentId: string,
  { active, linked }: { active: readonly string[]; linked: ReadonlySet<string> },
): Promise<ReadonlySet<string>> {
  if (active.length === 0) return linked;
  return new Set([...linked, ...(await linkTargets(context, agentId, 'native_mcp', active))]);
}

/**
 * Changes the instance mode of a link. Throws AGENT_NOT_FOUND, NATIVE_MCP_CONNECTION_NOT_FOUND, TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export async function changeInstanceMode(
  context: NativeMcpContext,
  agentId: string,
  connectionId: string,
  instanceMode: LinkedRow['instance_mode'],
): Promise<LinkedRow> {
  await checkRegistry(context, agentId, connectionId);
  return changeLink(context, agentId, 'native_mcp', connectionId, async () => ({ instance_mode: instanceMode }));
}

/** Removes the link to a connection. Throws as `changeInstanceMode` does. */
export async function dropConnection(context: NativeMcpContext, agentId: string, connectionId: string): Promise<void> {
  await checkRegistry(context, agentId, connectionId);
  await unlinkTarget(context, agentId, 'native_mcp', connectionId);
}

/** Makes sure that the registry can be reached: no link changes while the state of its connection is unknown. */
async function checkRegistry(context: NativeMcpContext, agentId: string, connectionId: string): Promise<void> {
  const { db, workspaceId, runtime } = context;
  const links = await listLinks(context, agentId, 'native_mcp');
  const id = connectionId.toLowerCase();
  if (!links.some(({ target_id }) => target_id === id)) throw fault('NATIVE_MCP_CONNECTION_NOT_FOUND');
  await runtime.toolkits.states(await findConnections(db, workspaceId, [id]));
}
