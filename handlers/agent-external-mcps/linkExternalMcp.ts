import { fault } from '../../core/errors.ts';
import { findExternalMcp } from '../../db/queries/tools/externalMcps.ts';
import { linkTarget } from '../../domain/agents/links/links.ts';
import { externalMcpLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

export const linkExternalMcp: Handler<'linkExternalMcp'> = async (context) => {
  const { path, body, workspaceId, reply } = context;
  const serverId = body.externalMcpPublicId;
  const link = await linkTarget(context, path.agentPublicId, 'external_mcp', serverId, async ({ trx }) => {
    const server = await findExternalMcp(trx, workspaceId, serverId);
    if (server?.status !== 'CONNECTED') throw fault('EXTERNAL_MCP_NOT_ACTIVE');
    return { instance_mode: body.instanceMode ?? 'STATIC' };
  });
  return reply(201, externalMcpLinkBody(link));
};
