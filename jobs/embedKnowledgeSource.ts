import { findSourcesWithoutVectors } from '../db/queries/knowledge/knowledgePassages.ts';
import { embeddingModelKey } from '../runtime/knowledge/embeddingForms.ts';
import { embedSource } from '../runtime/knowledge/embedSource.ts';
import type { Job } from './jobs.ts';

/** Sources that one sweep queues. */
const MAX_SWEPT = 100;

/**
 * Gives a source vectors of the configured model, some seconds at a time: it is queued again until all are there, so that workspaces and
 * sources take turns. It is queued when a source was read. The sweep finds sources from before the model was configured, and those
 * whose run died or failed. It is due at no particular time.
 */
export const embedKnowledgeSource: Job<'embed-knowledge-source'> = {
  name: 'embed-knowledge-source',
  options: {
    retryLimit: 2,
    retryDelay: 5,
    retryBackoff: true,
    expireInSeconds: 900,
    pool: 'embedding',
    sweepMs: 60_000,
  },
  key: ({ sourceId }) => sourceId,
  async run({ workspaceId, sourceId }, { database, runtime, logger, signal }) {
    const db = database.forWorkspace(workspaceId);
    const run = await embedSource({ db, workspaceId, runtime, logger, signal }, sourceId);
    return run === 'more' ? 'embed-knowledge-source' : undefined;
  },
  async sweep({ database, runtime }) {
    const { embeddings } = runtime.models;
    if (!embeddings) return { due: [] };
    return { due: await findSourcesWithoutVectors(database.system, embeddingModelKey(embeddings), MAX_SWEPT) };
  },
};
