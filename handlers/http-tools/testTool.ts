import { fault } from '../../core/errors.ts';
import { findHttpTool } from '../../db/queries/tools/httpTools.ts';
import { runHttpTool } from '../../runtime/tools/runTool.ts';
import type { Handler } from '../handler.ts';

/** Test a tool. Throws HTTP_TOOL_NOT_FOUND. */
export const testTool: Handler<'testTool'> = async ({ path, body, db, workspaceId, runtime, reply }) => {
  const tool = await findHttpTool(db, workspaceId, path.httpToolPublicId);
  if (!tool) throw fault('HTTP_TOOL_NOT_FOUND');
  const { executedAt, ...result } = await runHttpTool({ db, workspaceId, runtime }, tool, body.inputs);
  return reply(200, { ...result, executedAt: executedAt.toISOString() });
};
