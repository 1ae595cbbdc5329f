import { addServer } from '../../domain/externalMcps/addServer.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

/** Register a server. Throws EXTERNAL_MCP_NAME_TAKEN, MCP_DISCOVERY_FAILED, OAUTH_NOT_SUPPORTED_VIA_API, VALIDATION_ERROR. */
export const createExternalMcp: Handler<'createExternalMcp'> = async (context) => {
  const server = await addServer(context, context.body);
  return context.reply(201, externalMcpBody(server));
};
