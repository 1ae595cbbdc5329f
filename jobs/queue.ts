import type { PgBoss } from 'pg-boss';
import type { Job, JobContext, JobData, JobName, Jobs, PoolName } from './jobs.ts';
import { type Sweeps, startSweeps } from './sweeps.ts';
import { type ClaimedJob, startWorkerPool, type WorkerPool } from './workerPool.ts';

/** Where the queue keeps its tables: beside ours, in the same database. */
const SCHEMA = 'pgboss';
/** A worker that is silent for so long is dead, and its job is run again; the least that pg-boss takes. */
const HEARTBEAT_SECONDS = 10;
/** After a start that failed, a process that does the work tries again. */
const RESTART_MS = 2_000;

/** Jobs of every kind, whatever they carry. */
type AnyJob = Job<JobName>;

/** What a queue is made of. */
export interface QueueOptions {
  /** The login that owns the tables: the queue makes its own at the first start. */
  url: string;
  /** The kinds of work; a process that only takes work knows their names too. */
  jobs: readonly AnyJob[];
  /** Whether this process does the work, or only takes it. */
  work: boolean;
  /** Jobs at a time in this process, by pool. */
  places: Readonly<Record<PoolName, number>>;
  context: Omit<JobContext, 'signal'>;
}

function sendingOf(job: AnyJob, data: JobData[JobName]) {
  return { singletonKey: job.key(data), group: { id: data.workspaceId } };
}

/** The queue of a running service. */
export interface Queue extends Jobs {
  /** Looks at once for work that was never queued, if this process does the work. */
  sweep(name: JobName): void;
  /** Ends the queue, once: running jobs have `graceMs` to finish; what is given up then is run again, here or elsewhere. */
  stop(graceMs: number): Promise<void>;
}

/**
 * The queue, pg-boss over the service's own database: jobs outlive the process, one of several workers gets each, and one whose
 * worker died is run again. A process that does no work connects when it has the first job to queue.
 */
export function startQueue({ url, jobs, work, places, context }: QueueOptions): Queue {
  const { logger } = context;
  const ending = new AbortController();
  const jobContext: JobContext = { ...context, signal: ending.signal };
  const pools = new Map<PoolName, WorkerPool>();
  let sweeps: Sweeps | undefined;
  let restarting: NodeJS.Timeout | undefined;
  let starting: Promise<PgBoss> | undefined;
  let stopping: Promise<void> | undefined;

  /** The queue, started by whoever needs it first; after a start that failed, by the next. */
  function started(): Promise<PgBoss> {
    if (!starting && stopping) return Promise.reject(new Error('The service is stopping.'));
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  function startWorking(): void {
    started().catch((error: unknown) => {
      if (stopping) return;
      logger.error({ err: error }, 'the job queue did not start; it is tried again');
      restarting = setTimeout(startWorking, RESTART_MS).unref();
    });
  }

  async function start(): Promise<PgBoss> {
    // Loaded late: an idle service that does no work need not have it.
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      connectionString: url,
      schema: SCHEMA,
      application_name: 'guildhall-jobs',
      max: 4,
      // What is due by the clock is decided elsewhere, and a process that does no work leaves the upkeep to those that do.
      schedule: false,
      supervise: work,
      superviseIntervalSeconds: HEARTBEAT_SECONDS,
      monitorIntervalSeconds: HEARTBEAT_SECONDS,
    });
    boss.on('error', (error) => logger.warn({ err: error }, 'job queue'));
    try {
      await begin(boss);
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
    return boss;
  }

  async function begin(boss: PgBoss): Promise<void> {
    await boss.start();
    for (const job of jobs) {
      const { retryLimit, retryDelay, retryBackoff, expireInSeconds } = job.options;
      const options = { retryLimit, retryDelay, retryBackoff, expireInSeconds, heartbeatSeconds: HEARTBEAT_SECONDS };
      // With singletonKey, one job per key waits or runs (`exclusive`), or waits (`short`). createQueue leaves a queue that is there as it is.
      await boss.createQueue(job.name, { policy: job.options.again ? 'short' : 'exclusive', ...options });
      await boss.updateQueue(job.name, options);
    }
    if (!work || stopping) return;
    for (const pool of new Set(jobs.map((job) => job.options.pool))) {
      const options = {
        boss,
        jobs: jobs.filter((job) => job.options.pool === pool),
        places: places[pool],
        heartbeatMs: (HEARTBEAT_SECONDS / 3) * 1000,
        run,
        logger,
      };
      pools.set(pool, startWorkerPool(options));
    }
    const targets = jobs.map((job) => ({
      name: job.name,
      intervalMs: job.options.sweepMs,
      sweep: () => sweep(boss, job),
    }));
    sweeps = startSweeps(targets, logger);
  }

  async function run(job: AnyJob, claimed: ClaimedJob, overtime: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    const signal = AbortSignal.any([ending.signal, overtime]);
    try {
      await job.run(claimed.data, { ...jobContext, signal });
      logger.info({ job: job.name, ms: Math.round(performance.now() - startedAt) }, 'job done');
    } catch (error) {
      if (ending.signal.aborted) throw error;
      const last = claimed.retryCount >= claimed.retryLimit;
      logger.warn({ job: job.name, err: error, last }, 'job failed');
      if (last) await job.failed?.(claimed.data, jobContext);
      throw error;
    }
  }

  async function sweep(boss: PgBoss, job: AnyJob): Promise<void> {
    const found = await job.sweep(jobContext);
    if (found.length === 0) return;
    await boss.insert(
      job.name,
      found.map((data) => ({ data, ...sendingOf(job, data) })),
    );
    pools.get(job.options.pool)?.wake();
  }

  async function stop(graceMs: number): Promise<void> {
    clearTimeout(restarting);
    const cut = setTimeout(() => ending.abort(new Error('The service is stopping.')), graceMs);
    const boss = await starting?.catch(() => undefined);
    await sweeps?.stop();
    await Promise.all([...pools.values()].map((pool) => pool.stop(ending.signal)));
    clearTimeout(cut);
    await boss?.stop({ graceful: false });
    ending.abort(new Error('The service is stopping.'));
  }

  if (work) startWorking();
  return {
    async send(name, data) {
      try {
        const job = jobs.find((each) => each.name === name);
        if (!job) throw new Error(`There is no job ${name}.`);
        const boss = await started();
        await boss.send(name, data, sendingOf(job, data));
        pools.get(job.options.pool)?.wake();
      } catch (error) {
        logger.warn({ job: name, err: error }, 'job not queued; it will be swept up');
      }
    },
    sweep: (name) => sweeps?.sweepNow(name),
    stop(graceMs) {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
}
