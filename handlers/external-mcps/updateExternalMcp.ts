import { changeServer } from '../../domain/externalMcps/changeServer.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

/** Change a server. Throws EXTERNAL_MCP_NOT_FOUND, EXTERNAL_MCP_NAME_TAKEN, OAUTH_NOT_SUPPORTED_VIA_API, VALIDATION_ERROR. */
export const updateExternalMcp: Handler<'updateExternalMcp'> = async (context) => {
  const server = await changeServer(context, context.path.externalMcpPublicId, context.body);
  return context.reply(200, externalMcpBody(server));
};
