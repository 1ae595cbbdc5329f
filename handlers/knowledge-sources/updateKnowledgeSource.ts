import { changeSource } from '../../domain/knowledge/sources.ts';
import type { Handler } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

/** Change a knowledge source. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export const updateKnowledgeSource: Handler<'updateKnowledgeSource'> = async (context) => {
  const { path, body, reply } = context;
  return reply(200, sourceBody(await changeSource(context, path.knowledgeSourcePublicId, body)));
};
