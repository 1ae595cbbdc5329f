import { fault } from '../../core/errors.ts';
import { findKnowledgeSource } from '../../db/queries/knowledge/knowledgeSources.ts';
import type { Handler } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

/** Get a knowledge source. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export const getKnowledgeSource: Handler<'getKnowledgeSource'> = async ({ path, db, workspaceId, reply }) => {
  const row = await findKnowledgeSource(db, workspaceId, path.knowledgeSourcePublicId);
  if (!row) throw fault('KNOWLEDGE_SOURCE_NOT_FOUND');
  return reply(200, sourceBody(row));
};
