import {
  findOldestUnfinishedSourceTime,
  findUnfinishedKnowledgeSources,
} from '../db/queries/knowledge/knowledgeSources.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { failSource, processSource, type ReadingLane } from '../runtime/knowledge/process.ts';
import type { Job, JobContext, JobData } from './jobs.ts';

type SourceData = JobData['process-knowledge-source'];

/** Sources that one sweep queues. */
const MAX_SWEPT = 1000;

/** What reading is in both lanes. */
function readingIn(lane: ReadingLane) {
  return {
    options: { retryLimit: 8, retryDelay: 5, retryBackoff: true, expireInSeconds: 900, sweepMs: 60_000 },
    key: ({ sourceId }: SourceData) => sourceId,
    read: ({ workspaceId, sourceId }: SourceData, { database, runtime, logger, signal }: JobContext) =>
      processSource({ db: database.forWorkspace(workspaceId), workspaceId, runtime, logger, signal }, sourceId, lane),
    failed: ({ workspaceId, sourceId }: SourceData, { database, runtime }: JobContext) =>
      failSource({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, sourceId),
    sweep: async ({ database, clock }: JobContext) => ({
      due: await findUnfinishedKnowledgeSources(database.system, lane === 'slow', clock.now(), MAX_SWEPT),
    }),
  };
}

/** A source that was read is found by its words; what it means is fetched from a model, in the time and the places of another job. */
function nextAfter(end: Awaited<ReturnType<typeof processSource>>, { runtime }: JobContext) {
  return end === 'indexed' && runtime.models.embeddings ? 'embed-knowledge-source' : undefined;
}

const first = readingIn('first');
const slow = readingIn('slow');

/** Makes a new knowledge source searchable, and removes the file and the passages of a deleted one. */
export const processKnowledgeSource: Job<'process-knowledge-source'> = {
  ...first,
  name: 'process-knowledge-source',
  options: { ...first.options, pool: 'reading' },
  async run(data, context) {
    const end = await first.read(data, context);
    return end === 'slow' ? 'process-slow-knowledge-source' : nextAfter(end, context);
  },
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestUnfinishedSourceTime(system, clock.now())),
};

/**
 * Makes a source searchable that takes long to read, apart from the others, which must not wait for it. It is due at no particular
 * time.
 */
export const processSlowKnowledgeSource: Job<'process-slow-knowledge-source'> = {
  ...slow,
  name: 'process-slow-knowledge-source',
  options: { ...slow.options, pool: 'slowReading' },
  run: async (data, context) => nextAfter(await slow.read(data, context), context),
};
