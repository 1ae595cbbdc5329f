import { unfinishedKnowledgeSources } from '../db/queries/knowledge/knowledgeSources.ts';
import { giveUpSource, processSource } from '../runtime/knowledge/process.ts';
import type { Job } from './jobs.ts';

/** More than wait at any time; the next sweep finds the rest. */
const SWEPT_AT_ONCE = 1000;

/** Makes a new knowledge source searchable, and removes what is left of a deleted one. */
export const processKnowledgeSource: Job<'process-knowledge-source'> = {
  name: 'process-knowledge-source',
  options: { retryLimit: 8, retryDelay: 5, retryBackoff: true, expireInSeconds: 900, pool: 'reading', sweepMs: 60_000 },
  key: ({ sourceId }) => sourceId,
  run: ({ workspaceId, sourceId }, { database, runtime, logger, signal }) =>
    processSource({ db: database.forWorkspace(workspaceId), workspaceId, runtime, logger, signal }, sourceId),
  failed: ({ workspaceId, sourceId }, { database, runtime }) =>
    giveUpSource({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, sourceId),
  sweep: ({ database, clock }) => unfinishedKnowledgeSources(database.system, clock.now(), SWEPT_AT_ONCE),
};
