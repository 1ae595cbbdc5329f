import { setTimeout as sleep } from 'node:timers/promises';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Job, JobData, JobName } from './jobs.ts';
import { WorkspaceTurns } from './workspaceTurns.ts';

/** Jobs that could not be claimed are asked for again after this time. */
const RETRY_MS = 500;
/** Jobs that ignore the end of the service have this long to settle after it. */
const LAST_MS = 1_000;

/** A job that this process has claimed. */
export type ClaimedJob = JobWithMetadata<JobData[JobName]>;

/** What a pool of workers is made of. */
export interface WorkerPoolOptions {
  boss: Pick<PgBoss, 'fetch' | 'complete' | 'fail' | 'touch'>;
  /** The kinds of job that share the pool's places. */
  jobs: readonly Job<JobName>[];
  /** Jobs at a time. */
  places: number;
  /** Milliseconds between two heartbeats of the running jobs. */
  heartbeatMs: number;
  /** How many jobs of a workspace may run at a time; null = no limit of its own. Never rejects. */
  limitOf?(workspaceId: string): Promise<number | null>;
  /**
   * Runs a job; a rejection means that it is to be tried again. The signal aborts when the job has run for too long. What it returns is
   * done once the job counts as ended.
   */
  run(job: Job<JobName>, claimed: ClaimedJob, signal: AbortSignal): Promise<(() => Promise<void>) | undefined | void>;
  /** Called when the failure of a job was stored: it may be due again later. */
  failed?(job: Job<JobName>): void;
  logger: Logger;
}

/** Workers that share a number of places. */
export interface WorkerPool {
  /** Looks for jobs at once: for whoever knows that one is due. */
  wake(): void;
  /** Claims no further jobs, and settles when those that run have ended, at the latest soon after `ending` aborts. */
  stop(ending: AbortSignal): Promise<void>;
}

/**
 * Claims jobs and runs them, as many at a time as there are places, and as workspaces take turns. While jobs wait, a place that gets
 * free is filled at once; an idle pool asks nothing until it is wakened.
 */
export function startWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { boss, jobs, places, heartbeatMs, limitOf, run, failed = () => {}, logger } = options;
  const turns = new WorkspaceTurns(places);
  const running = new Map<ClaimedJob, { job: Job<JobName>; ended: Promise<void> }>();
  let filling: Promise<void> | undefined;
  let wakened = false;
  let stopped = false;
  let nextJob = 0;
  let retrying: NodeJS.Timeout | undefined;

  function wake(): void {
    wakened = true;
    filling ??= fill().finally(() => {
      filling = undefined;
      // Wakened after the last look and before this line.
      if (wakened) wake();
    });
  }

  async function fill(): Promise<void> {
    try {
      while (wakened) {
        wakened = false;
        while (!stopped && turns.free > 0) {
          const claim = await claimNext();
          if (!claim) break;
          start(...claim);
          const { workspaceId } = claim[1].data;
          // Before the next claim, so that the limit is exact.
          if (limitOf) turns.limit(workspaceId, await limitOf(workspaceId));
        }
      }
    } catch (error) {
      if (stopped) return;
      logger.warn({ jobs: jobs.map(({ name }) => name), err: error }, 'jobs could not be claimed');
      clearTimeout(retrying);
      retrying = setTimeout(wake, RETRY_MS).unref();
    }
  }

  /** The next job: of a workspace that has not had its turn in this round, else of the next round. */
  async function claimNext(): Promise<[Job<JobName>, ClaimedJob] | undefined> {
    const found = await claimExcluding(turns.excluded());
    if (found || turns.roundIsFresh) return found;
    turns.startRound();
    return claimExcluding(turns.excluded());
  }

  async function claimExcluding(ignoreGroups: string[]): Promise<[Job<JobName>, ClaimedJob] | undefined> {
    for (let tried = 0; tried < jobs.length; tried += 1) {
      const job = jobs[nextJob];
      nextJob = (nextJob + 1) % jobs.length;
      if (!job) continue;
      const [claimed] = await boss.fetch<JobData[JobName]>(job.name, { includeMetadata: true, ignoreGroups });
      if (claimed) return [job, claimed];
    }
    return undefined;
  }

  function start(job: Job<JobName>, claimed: ClaimedJob): void {
    const { workspaceId } = claimed.data;
    turns.started(workspaceId);
    const ended = settle(job, claimed)
      .catch((error: unknown) => {
        // The job gets no further heartbeat, so it is run again soon.
        logger.warn({ job: job.name, err: error }, 'the outcome of a job could not be stored');
      })
      .finally(() => {
        running.delete(claimed);
        turns.ended(workspaceId);
        wake();
      });
    running.set(claimed, { job, ended });
  }

  async function settle(job: Job<JobName>, claimed: ClaimedJob): Promise<void> {
    let after: (() => Promise<void>) | undefined | void;
    try {
      after = await runWithin(job, claimed);
    } catch (error) {
      await boss.fail(job.name, claimed, error as object);
      failed(job);
      return;
    }
    await boss.complete(job.name, claimed);
    await after?.();
  }

  async function runWithin(job: Job<JobName>, claimed: ClaimedJob): ReturnType<WorkerPoolOptions['run']> {
    const seconds = job.options.expireInSeconds;
    const overtime = new AbortController();
    const expired = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const error = new Error(`The job ran for more than ${seconds} s.`);
      overtime.abort(error);
      expired.reject(error);
    }, seconds * 1000).unref();
    try {
      return await Promise.race([run(job, claimed, overtime.signal), expired.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** One statement for each kind of job, however many run. */
  async function touch(): Promise<void> {
    for (const { name } of jobs) {
      const held = [...running].filter(([, { job }]) => job.name === name).map(([claimed]) => claimed);
      try {
        if (held.length > 0) await boss.touch(name, held);
      } catch (error) {
        logger.warn({ job: name, err: error }, 'the heartbeat of running jobs failed');
      }
    }
  }

  const beating = setInterval(touch, heartbeatMs).unref();
  wake();

  return {
    wake,
    async stop(ending) {
      stopped = true;
      clearTimeout(retrying);
      await filling;
      const all = Promise.all([...running.values()].map(({ ended }) => ended));
      await Promise.race([all, afterAbort(ending)]);
      clearInterval(beating);
      for (const [claimed, { job }] of running) {
        const error = new Error('The service stopped.');
        await boss.fail(job.name, claimed, error).then(
          () => failed(job),
          () => {},
        );
      }
    },
  };
}

async function afterAbort(signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  if (signal.aborted) aborted.resolve();
  else signal.addEventListener('abort', () => aborted.resolve(), { once: true });
  await aborted.promise;
  await sleep(LAST_MS, undefined, { ref: false });
}
