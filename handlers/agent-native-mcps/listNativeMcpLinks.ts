import { findConnections } from '../../db/queries/tools/nativeConnections.ts';
import { listLinks } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';
import { connectionBody } from './connectionBody.ts';

export const listNativeMcpLinks: Handler<'listNativeMcpLinks'> = async (context) => {
  const { path, db, workspaceId, runtime, reply } = context;
  const links = await listLinks(context, path.agentPublicId, 'native_mcp');
  const ids = links.map(({ target_id }) => target_id);
  const rows = await findConnections(db, workspaceId, ids);
  const states = await runtime.toolkits.states(rows);
  const connections = links.flatMap((link) => {
    const row = rows.find(({ id }) => id === link.target_id);
    const state = states.get(link.target_id);
    return row && state ? [connectionBody(row, state, link)] : [];
  });
  return reply(200, { connections });
};
