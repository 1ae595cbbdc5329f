import { changeTool } from '../../domain/tools/changeTool.ts';
import type { Handler } from '../handler.ts';
import { toolBody } from './toolBody.ts';

/** Change a tool. Throws IMMUTABLE_FIELD, HTTP_TOOL_NOT_FOUND, HTTP_TOOL_NAME_TAKEN, INVALID_TOOL_CONFIGURATION. */
export const updateTool: Handler<'updateTool'> = async (context) => {
  const tool = await changeTool(context, context.path.httpToolPublicId, context.body);
  return context.reply(200, toolBody(tool));
};
