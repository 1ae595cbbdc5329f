import { fault } from '../../core/errors.ts';
import {
  findKnowledgeSource,
  updateKnowledgeSource as updateRow,
} from '../../db/queries/knowledge/knowledgeSources.ts';
import type { Handler } from '../handler.ts';
import { sourceBody } from './sourceBody.ts';

/** Change a knowledge source. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export const updateKnowledgeSource: Handler<'updateKnowledgeSource'> = async (context) => {
  const { path, body, db, workspaceId, clock, reply } = context;
  const { name, description } = body;
  const given = name !== undefined || description !== undefined;
  const row = given
    ? await updateRow(db, workspaceId, path.knowledgeSourcePublicId, { name, description, updated_at: clock.now() })
    : await findKnowledgeSource(db, workspaceId, path.knowledgeSourcePublicId);
  if (!row) throw fault('KNOWLEDGE_SOURCE_NOT_FOUND');
  return reply(200, sourceBody(row));
};
