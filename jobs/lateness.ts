import { withDeadline } from '../core/deadline.ts';
import type { Job, JobContext, JobName } from './jobs.ts';

/** The database has this long to say what is due. */
const QUERY_MS = 1_000;
/** Answers are used again for so long: whoever scrapes often costs the database nothing. */
const REUSED_MS = 5_000;

/** Seconds that the oldest due work of each job has been waiting, 0 when none is due; without the jobs for which it could not be found out. */
export type JobLateness = ReadonlyMap<JobName, number>;

/** What lateness is read with. */
export interface LatenessOptions {
  jobs: readonly Job<JobName>[];
  context: Pick<JobContext, 'database' | 'clock' | 'logger'>;
  /** Milliseconds; the defaults are for production. */
  queryMs?: number;
  reusedMs?: number;
}

/** Makes a function that reads the lateness of jobs. It never rejects, and asks the database at most once at a time. */
export function createLatenessReader(options: LatenessOptions): () => Promise<JobLateness> {
  const { jobs, context, queryMs = QUERY_MS, reusedMs = REUSED_MS } = options;
  let reading: Promise<JobLateness> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<JobLateness> {
    const found = new Map<JobName, number>();
    for (const { name, oldestDue } of jobs) {
      if (!oldestDue) continue;
      try {
        const due = await within(oldestDue(context, queryMs), queryMs);
        found.set(name, due ? Math.max(0, (context.clock.now().getTime() - due.getTime()) / 1000) : 0);
      } catch (error) {
        context.logger.warn({ job: name, err: error }, 'the lateness of a job could not be read');
      }
    }
    return found;
  }

  return () => {
    if (!reading || performance.now() - readAt > reusedMs) {
      // Until it has settled it counts as fresh.
      readAt = Number.POSITIVE_INFINITY;
      reading = read().finally(() => {
        readAt = performance.now();
      });
    }
    return reading;
  };
}

/** Also covers the wait for a connection, which no timeout of a statement covers. */
function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return withDeadline(work, ms, () => new Error(`There was no answer within ${ms} ms.`));
}
