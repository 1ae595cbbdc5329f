import { fault } from '../../core/errors.ts';
import { softDeleteHttpTool } from '../../db/queries/httpTools.ts';
import { deleteTarget } from '../agents/links.ts';
import type { Handler } from '../handler.ts';

/** Delete a tool. Throws HTTP_TOOL_NOT_FOUND. */
export const deleteTool: Handler<'deleteTool'> = async (context) => {
  const { path, workspaceId, reply } = context;
  const id = path.httpToolPublicId;
  const deleted = await deleteTarget(context, 'http_tool', id, ({ trx, now }) =>
    softDeleteHttpTool(trx, workspaceId, id, now),
  );
  if (!deleted) throw fault('HTTP_TOOL_NOT_FOUND');
  return reply(204);
};
