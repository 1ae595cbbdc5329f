import { sourcesWithoutVectors } from '../db/queries/knowledge/knowledgePassages.ts';
import { embeddingModelKey } from '../runtime/knowledge/embeddings.ts';
import { embedStoredPassages } from '../runtime/knowledge/passages.ts';
import type { Job } from './jobs.ts';

/** More than wait at any time; the next sweep finds the rest. */
const SWEPT_AT_ONCE = 100;

/**
 * Gives a source vectors of the configured model: one that was processed before the model was configured, or while its provider was
 * down. Never queued by hand: the sweep finds what is missing.
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
    // Queued by a process with another configuration.
    if (!runtime.models.embeddings) return;
    await embedStoredPassages(
      { db: database.forWorkspace(workspaceId), workspaceId, runtime, logger, signal },
      sourceId,
    );
  },
  async sweep({ database, runtime }) {
    const { embeddings } = runtime.models;
    if (!embeddings) return [];
    return sourcesWithoutVectors(database.system, embeddingModelKey(embeddings), SWEPT_AT_ONCE);
  },
};
