import { fault } from '../../core/errors.ts';
import { rediscover } from '../../domain/externalMcps/discovery.ts';
import type { Handler } from '../handler.ts';
import { externalMcpBody } from './externalMcpBody.ts';

/** Discover the tools of a server again. Throws EXTERNAL_MCP_NOT_FOUND. */
export const discoverExternalMcp: Handler<'discoverExternalMcp'> = async (context) => {
  const server = await rediscover(context, context.path.externalMcpPublicId);
  if (!server) throw fault('EXTERNAL_MCP_NOT_FOUND');
  return context.reply(200, externalMcpBody(server));
};
