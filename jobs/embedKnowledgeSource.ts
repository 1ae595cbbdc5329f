import { findSourcesWithoutVectors } from '../db/queries/knowledge/knowledgePassages.ts';
import { embeddingModelKey } from '../runtime/knowledge/embeddings.ts';
import { embedStoredPassages } from '../runtime/knowledge/passages.ts';
import type { Job } from './jobs.ts';

/** Sources that one sweep queues. */
const MAX_SWEPT = 100;

/**
 * Gives a source vectors of the configured model, when it was processed before the model was configured or while its provider was
 * down. It is never queued by hand: the sweep finds sources without vectors. It is due at no particular time.
 */
export const embedKnowledgeSource: Job<'embed-knowledge-source'> = {
  name: 'embed-knowledge-source',
  options: {
    retryLimit: 2,
    retryDelay: 30,
    retryBackoff: true,
    expireInSeconds: 900,
    pool: 'embedding',
    sweepMs: 60_000,
  },
  key: ({ sourceId }) => sourceId,
  async run({ workspaceId, sourceId }, { database, runtime, logger, signal }) {
    // A process with another configuration may have queued it.
    if (!runtime.models.embeddings) return;
    await embedStoredPassages(
      { db: database.forWorkspace(workspaceId), workspaceId, runtime, logger, signal },
      sourceId,
    );
  },
  async sweep({ database, runtime }) {
    const { embeddings } = runtime.models;
    if (!embeddings) return [];
    return findSourcesWithoutVectors(database.system, embeddingModelKey(embeddings), MAX_SWEPT);
  },
};
