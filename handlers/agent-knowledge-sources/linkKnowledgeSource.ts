import { linkTarget } from '../../domain/agents/links/links.ts';
import { knowledgeSourceLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** Link a knowledge source to an agent. Throws AGENT_NOT_FOUND, KNOWLEDGE_SOURCE_NOT_FOUND, ALREADY_LINKED, NO_DRAFT_VERSION. */
export const linkKnowledgeSource: Handler<'linkKnowledgeSource'> = async (context) => {
  const { path, body, reply } = context;
  const link = await linkTarget(context, path.agentPublicId, 'knowledge_source', body.knowledgeSourcePublicId);
  return reply(201, knowledgeSourceLinkBody(link));
};
