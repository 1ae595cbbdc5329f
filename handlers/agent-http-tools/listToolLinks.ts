import { toolLinkBody } from '../../domain/agents/linkSets.ts';
import { listLinks } from '../../domain/agents/links.ts';
import type { Handler } from '../handler.ts';

/** List the tools of an agent. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listToolLinks: Handler<'listToolLinks'> = async (context) => {
  const links = await listLinks(context, context.path.agentPublicId, 'http_tool');
  return context.reply(200, links.map(toolLinkBody));
};
