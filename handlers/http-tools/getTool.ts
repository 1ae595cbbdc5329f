import { fault } from '../../core/errors.ts';
import { findHttpTool } from '../../db/queries/tools/httpTools.ts';
import type { Handler } from '../handler.ts';
import { toolBody } from './toolBody.ts';

/** Get a tool. Throws HTTP_TOOL_NOT_FOUND. */
export const getTool: Handler<'getTool'> = async ({ path, db, workspaceId, reply }) => {
  const tool = await findHttpTool(db, workspaceId, path.httpToolPublicId);
  if (!tool) throw fault('HTTP_TOOL_NOT_FOUND');
  return reply(200, toolBody(tool));
};
