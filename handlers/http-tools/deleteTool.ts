import { fault } from '../../core/errors.ts';
import { softDeleteHttpTool } from '../../db/queries/tools/httpTools.ts';
import { removeToolVariables } from '../../db/queries/tools/toolVariables.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** Delete a tool, with the values of its variable. Throws HTTP_TOOL_NOT_FOUND. */
export const deleteTool: Handler<'deleteTool'> = async (context) => {
  const { path, workspaceId, reply } = context;
  const id = path.httpToolPublicId;
  const deleted = await deleteTarget(context, 'http_tool', id, async ({ trx, now }) => {
    if (!(await softDeleteHttpTool(trx, workspaceId, id, now))) return false;
    await removeToolVariables(trx, workspaceId, id);
    return true;
  });
  if (!deleted) throw fault('HTTP_TOOL_NOT_FOUND');
  return reply(204);
};
