import { listLinks } from '../../domain/agents/links/links.ts';
import { externalMcpLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

export const listExternalMcpLinks: Handler<'listExternalMcpLinks'> = async (context) => {
  const rows = await listLinks(context, context.path.agentPublicId, 'external_mcp');
  return context.reply(200, rows.map(externalMcpLinkBody));
};
