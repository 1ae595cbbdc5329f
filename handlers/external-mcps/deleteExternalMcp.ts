import { fault } from '../../core/errors.ts';
import { softDeleteExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** Delete a server, and its links to agents. Throws EXTERNAL_MCP_NOT_FOUND. */
export const deleteExternalMcp: Handler<'deleteExternalMcp'> = async (context) => {
  const { path, workspaceId, runtime, reply } = context;
  const id = path.externalMcpPublicId;
  const deleted = await deleteTarget(context, 'external_mcp', id, ({ trx, now }) =>
    softDeleteExternalMcp(trx, workspaceId, id, now),
  );
  if (!deleted) throw fault('EXTERNAL_MCP_NOT_FOUND');
  // Other replicas close their connections to it when they are idle.
  runtime.mcp.forget(workspaceId, id.toLowerCase());
  return reply(204);
};
