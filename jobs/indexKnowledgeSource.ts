import { findSourcesToIndex } from '../db/queries/knowledge/knowledgeIndex.ts';
import { indexStoredPassages } from '../runtime/knowledge/indexStored.ts';
import type { Job } from './jobs.ts';

/** Sources that one sweep queues. */
const MAX_SWEPT = 100;

/**
 * Gives the passages of a source stems, when they were stored before there were any. It is never queued by hand: the sweep finds such sources. It is due at no
 * particular time, and the sources are found by their words until then.
 */
export const indexKnowledgeSource: Job<'index-knowledge-source'> = {
  name: 'index-knowledge-source',
  options: {
    retryLimit: 2,
    retryDelay: 30,
    retryBackoff: true,
    expireInSeconds: 900,
    pool: 'slowReading',
    sweepMs: 60_000,
  },
  key: ({ sourceId }) => sourceId,
  async run({ workspaceId, sourceId }, { database, signal }) {
    await indexStoredPassages({ db: database.forWorkspace(workspaceId), workspaceId, signal }, sourceId);
  },
  sweep: async ({ database }) => ({ due: await findSourcesToIndex(database.system, MAX_SWEPT) }),
};
