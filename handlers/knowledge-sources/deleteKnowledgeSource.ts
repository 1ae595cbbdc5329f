import { dropSource } from '../../domain/knowledge/sources.ts';
import type { Handler } from '../handler.ts';

/** Delete a knowledge source. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export const deleteKnowledgeSource: Handler<'deleteKnowledgeSource'> = async (context) => {
  await dropSource(context, context.path.knowledgeSourcePublicId);
  return context.reply(204);
};
