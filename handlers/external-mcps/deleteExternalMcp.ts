import { fault } from '../../core/errors.ts';
import { softDeleteExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

export const deleteExternalMcp: Handler<'deleteExternalMcp'> = async (context) => {
  const { path, workspaceId, runtime, reply } = context;
  const id = path.externalMcpPublicId;
  const deleted = await deleteTarget(context, 'external_mcp', id, ({ trx, now }) =>
    softDeleteExternalMcp(trx, workspaceId, id, now),
  );
  if (!deleted) throw fault('EXTERNAL_MCP_NOT_FOUND');
  // Other replicas close theirs when nobody has used it for a while.
  runtime.mcp.forget(workspaceId, id.toLowerCase());
  return reply(204);
};
