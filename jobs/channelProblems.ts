import { withDeadline } from '../core/deadline.ts';
import { type ChannelProblemCount, countProblems } from '../db/queries/channels/health.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import type { JobContext } from './jobs.ts';

/** The database has this long to count. */
const QUERY_MS = 1_000;
/** A count is used again for so long: problems of channels are mended by people, so nobody needs the second. */
const REUSED_MS = 60_000;

/** Makes a function that counts the problems of channels for the metrics. It never rejects, and asks the database once a minute at most. */
export function createChannelProblemReader(
  { database, logger }: Pick<JobContext, 'database' | 'logger'>,
  reusedMs = REUSED_MS,
): () => Promise<readonly ChannelProblemCount[] | undefined> {
  let reading: Promise<ChannelProblemCount[] | undefined> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<ChannelProblemCount[] | undefined> {
    try {
      const counted = withStatementTimeout(database.system, QUERY_MS, (trx) => countProblems(trx));
      // Also covers the wait for a connection.
      return await withDeadline(counted, QUERY_MS, () => new Error(`There was no answer within ${QUERY_MS} ms.`));
    } catch (error) {
      logger.warn({ err: error }, 'the problems of channels could not be counted');
      return undefined;
    }
  }

  return () => {
    if (!reading || performance.now() - readAt > reusedMs) {
      readAt = performance.now();
      reading = read();
    }
    return reading;
  };
}
