import { listLinks } from '../../domain/agents/links/links.ts';
import { knowledgeSourceLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** List the knowledge sources of an agent. Throws AGENT_NOT_FOUND, NO_DRAFT_VERSION. */
export const listKnowledgeSourceLinks: Handler<'listKnowledgeSourceLinks'> = async (context) => {
  const links = await listLinks(context, context.path.agentPublicId, 'knowledge_source');
  return context.reply(200, links.map(knowledgeSourceLinkBody));
};
