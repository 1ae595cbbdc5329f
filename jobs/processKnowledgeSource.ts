import {
  findOldestUnfinishedSourceTime,
  findUnfinishedKnowledgeSources,
} from '../db/queries/knowledge/knowledgeSources.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { failSource, processSource } from '../runtime/knowledge/process.ts';
import type { Job } from './jobs.ts';

/** Sources that one sweep queues. */
const MAX_SWEPT = 1000;

/** Makes a new knowledge source searchable, and removes the file and the passages of a deleted one. */
export const processKnowledgeSource: Job<'process-knowledge-source'> = {
  name: 'process-knowledge-source',
  options: {
    retryLimit: 8,
    retryDelay: 5,
    retryBackoff: true,
    expireInSeconds: 900,
    pool: 'reading',
    sweepMs: 60_000,
  },
  key: ({ sourceId }) => sourceId,
  run: ({ workspaceId, sourceId }, { database, runtime, logger, signal }) =>
    processSource({ db: database.forWorkspace(workspaceId), workspaceId, runtime, logger, signal }, sourceId),
  failed: ({ workspaceId, sourceId }, { database, runtime }) =>
    failSource({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, sourceId),
  sweep: ({ database, clock }) => findUnfinishedKnowledgeSources(database.system, clock.now(), MAX_SWEPT),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestUnfinishedSourceTime(system, clock.now())),
};
