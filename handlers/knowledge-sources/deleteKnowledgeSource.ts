import { fault } from '../../core/errors.ts';
import { softDeleteKnowledgeSource } from '../../db/queries/knowledge/knowledgeSources.ts';
import { deleteTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** Delete a knowledge source. Throws KNOWLEDGE_SOURCE_NOT_FOUND. */
export const deleteKnowledgeSource: Handler<'deleteKnowledgeSource'> = async (context) => {
  const { path, workspaceId, jobs, reply } = context;
  const sourceId = path.knowledgeSourcePublicId;
  const deleted = await deleteTarget(context, 'knowledge_source', sourceId, ({ trx, now }) =>
    softDeleteKnowledgeSource(trx, workspaceId, sourceId, now),
  );
  if (!deleted) throw fault('KNOWLEDGE_SOURCE_NOT_FOUND');
  // What is left of it is found no more; the job removes it.
  await jobs.send('process-knowledge-source', { workspaceId, sourceId });
  return reply(204);
};
