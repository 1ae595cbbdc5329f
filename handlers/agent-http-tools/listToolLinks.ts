import { listLinks } from '../../domain/agents/links/links.ts';
import { toolLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** List the tools of an agent. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listToolLinks: Handler<'listToolLinks'> = async (context) => {
  const links = await listLinks(context, context.path.agentPublicId, 'http_tool');
  return context.reply(200, links.map(toolLinkBody));
};
