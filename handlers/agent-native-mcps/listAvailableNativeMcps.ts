import { listLinkableConnections } from '../../db/queries/tools/nativeConnections.ts';
import { draftAgent } from '../../domain/agents/links/links.ts';
import { ACTIVE } from '../../integrations/toolkits/toolkits.ts';
import type { Handler } from '../handler.ts';
import { connectionBody } from './connectionBody.ts';

export const listAvailableNativeMcps: Handler<'listAvailableNativeMcps'> = async (context) => {
  const { path, db, workspaceId, runtime, reply } = context;
  const agent = await draftAgent(context, path.agentPublicId, 'native_mcp');
  const rows = await listLinkableConnections(db, workspaceId, agent.id);
  const states = await runtime.toolkits.states(rows);
  const connections = rows.flatMap((row) => {
    const state = states.get(row.id);
    return state?.status === ACTIVE ? [connectionBody(row, state, null)] : [];
  });
  return reply(200, { connections });
};
