import { prepareTool, storeTool } from '../../domain/tools/addTool.ts';
import type { Handler } from '../handler.ts';
import { toolBody } from './toolBody.ts';

/** Create a tool. Throws HTTP_TOOL_NAME_TAKEN, HTTP_TOOL_LIMIT_REACHED, INVALID_TOOL_TYPE, INVALID_TOOL_CONFIGURATION. */
export const createTool: Handler<'createTool'> = {
  async prepare({ workspaceId, body, runtime }) {
    const prepared = await prepareTool({ workspaceId, runtime }, body);
    return async (context) => context.reply(201, toolBody(await storeTool(context, prepared)));
  },
};
