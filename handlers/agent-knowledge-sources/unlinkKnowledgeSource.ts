import { unlinkTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** Unlink a knowledge source from an agent. Throws AGENT_NOT_FOUND, NOT_LINKED, NO_DRAFT_VERSION. */
export const unlinkKnowledgeSource: Handler<'unlinkKnowledgeSource'> = async (context) => {
  const { path, reply } = context;
  await unlinkTarget(context, path.agentPublicId, 'knowledge_source', path.knowledgeSourcePublicId);
  return reply(204);
};
