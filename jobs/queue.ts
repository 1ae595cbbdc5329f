import type { PgBoss } from 'pg-boss';
import { jobQueued } from '../db/events.ts';
import { backgroundLimitReader } from './backgroundLimits.ts';
import type { Job, JobContext, JobData, JobName, Jobs, PoolName, SendOptions } from './jobs.ts';
import { type QueueWatch, startQueueWatch } from './queueWatch.ts';
import { type Sweeps, startSweeps } from './sweeps.ts';
import type { Upkeep } from './upkeep.ts';
import { type ClaimedJob, startWorkerPool, type WorkerPool } from './workerPool.ts';

/** The schema of the queue's tables, in the service's own database. */
const SCHEMA = 'pgboss';
/** A job without a heartbeat for this time is run again, since its process is dead. It is the minimum of pg-boss. */
const HEARTBEAT_SECONDS = 10;
/** A process that runs jobs retries a failed start of the queue after this time. */
const RESTART_MS = 2_000;

/** A kind of job, whichever it is. */
type AnyJob = Job<JobName>;

/** What `startQueue` needs. */
export interface QueueOptions {
  /** How to connect, with the login that owns the tables: the queue creates its own at the first start. */
  connection: object;
  /** Every kind of job; a process that only queues jobs needs them too. */
  jobs: readonly AnyJob[];
  /** What processes that run jobs also do. */
  upkeep?: readonly Upkeep[];
  /** Whether this process runs jobs, or only queues them. */
  work: boolean;
  /** Jobs are run once it settles; from the beginning where it is absent. */
  begin?: Promise<void>;
  /** Jobs at a time in this process, by pool. */
  places: Readonly<Record<PoolName, number>>;
  context: Omit<JobContext, 'signal' | 'jobs'>;
  /** Stops what queues jobs by itself, before the queue stops. */
  beforeStop?(): Promise<void> | undefined;
}

/** The key that makes a job unique, and the workspace by which jobs take turns. */
function identityOf(job: AnyJob, data: JobData[JobName]) {
  return { singletonKey: job.key(data), group: { id: data.workspaceId } };
}

/** The queue of a running service. */
export interface Queue extends Jobs {
  /** As `send`, for many jobs with one statement. */
  sendAll<Name extends JobName>(name: Name, all: readonly JobData[Name][]): Promise<void>;
  /** Looks at once for work that was never queued, if this process runs jobs. */
  sweep(name: JobName): void;
  /** Looks at once for queued jobs, of one kind or of every kind, if this process runs jobs. */
  wake(name?: string): void;
  /** Stops the queue. Running jobs have `graceMs` to finish; those that do not are run again, by this process or another. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts the queue: pg-boss over the service's own database. Jobs outlive the process, only one process claims each, and those of a
 * dead process are run again. A process that runs no jobs connects when it queues the first one.
 */
export function startQueue(options: QueueOptions): Queue {
  const { connection, jobs, upkeep = [], work, begin: begun, places, context } = options;
  const { logger } = context;
  const ending = new AbortController();
  const jobContext: JobContext = { ...context, jobs: { send }, signal: ending.signal };
  const pools = new Map<PoolName, WorkerPool>();
  let sweeps: Sweeps | undefined;
  let watch: QueueWatch | undefined;
  /** Kinds of job that were given back while the queue stopped. */
  const givenBack = new Set<JobName>();
  let restarting: NodeJS.Timeout | undefined;
  let starting: Promise<PgBoss> | undefined;
  let stopping: Promise<void> | undefined;

  /** The started queue. The first caller starts it; after a failed start the next one does. */
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
      logger.error({ err: error }, 'the job queue did not start; the start is retried');
      restarting = setTimeout(startWorking, RESTART_MS).unref();
    });
  }

  async function start(): Promise<PgBoss> {
    // Imported here, so that a process that never queues a job does not load it.
    const { PgBoss } = await import('pg-boss');
    const boss = new PgBoss({
      ...connection,
      schema: SCHEMA,
      application_name: 'guildhall-jobs',
      max: 4,
      // The sweeps decide what is due by the clock. Processes that run jobs also maintain the queue's tables: the watch does it when needed.
      schedule: false,
      supervise: false,
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
      const heartbeatSeconds = HEARTBEAT_SECONDS;
      // With `notify`, the statement that queues a job announces it to all processes (jobQueued).
      const options = { retryLimit, retryDelay, retryBackoff, expireInSeconds, heartbeatSeconds, notify: true };
      // With a singletonKey, one job per key waits or runs (`exclusive`), or one waits (`short`). createQueue does not change an existing queue.
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
        limitOf: backgroundLimitReader(context.database.system, context.clock),
        run,
        failed: ({ name }: AnyJob) => {
          if (stopping) givenBack.add(name);
          else watch?.look();
        },
        logger,
      };
      pools.set(pool, startWorkerPool(options));
    }
    watch = startQueueWatch({ boss, schema: SCHEMA, names: jobs.map(({ name }) => name), due: wakePoolOf, logger });
    const targets = jobs.map((job) => ({
      name: job.name,
      intervalMs: job.options.sweepMs,
      sweep: () => sweep(boss, job),
    }));
    const chores = upkeep.map((chore) => ({ ...chore, sweep: () => keepUp(chore) }));
    sweeps = startSweeps([...targets, ...chores], logger);
  }

  async function run(job: AnyJob, claimed: ClaimedJob, overtime: AbortSignal) {
    const startedAt = performance.now();
    const signal = AbortSignal.any([ending.signal, overtime]);
    try {
      const next = (await job.run(claimed.data, { ...jobContext, signal })) as JobName | undefined;
      if (next !== undefined && next !== job.name) await send(next, claimed.data);
      logger.info({ job: job.name, ms: Math.round(performance.now() - startedAt) }, 'job done');
      // While this one runs, another of its key is refused.
      return next === job.name ? () => send(next, claimed.data) : undefined;
    } catch (error) {
      if (ending.signal.aborted) throw error;
      const last = claimed.retryCount >= claimed.retryLimit;
      logger.warn({ job: job.name, err: error, last }, 'job failed');
      if (last) await job.failed?.(claimed.data, jobContext);
      throw error;
    }
  }

  async function sweep(boss: PgBoss, job: AnyJob): Promise<number | undefined> {
    const { due, next } = await job.sweep(jobContext);
    await insert(boss, job, due);
    return msUntil(next);
  }

  async function keepUp(chore: Upkeep): Promise<number | undefined> {
    return msUntil((await chore.run(context)) ?? undefined);
  }

  /** In how many milliseconds more will be due, if that is known. */
  function msUntil(next: Date | undefined): number | undefined {
    return next && next.getTime() - context.clock.now().getTime();
  }

  async function insert(boss: PgBoss, job: AnyJob, all: readonly JobData[JobName][]): Promise<void> {
    if (all.length === 0) return;
    await boss.insert(
      job.name,
      all.map((data) => ({ data, ...identityOf(job, data) })),
    );
    wakePoolOf(job.name);
  }

  function wakePoolOf(name: string): void {
    const pool = jobs.find((job) => job.name === name)?.options.pool;
    if (pool) pools.get(pool)?.wake();
  }

  async function stop(graceMs: number): Promise<void> {
    clearTimeout(restarting);
    const cut = setTimeout(() => ending.abort(new Error('The service is stopping.')), graceMs);
    const boss = await starting?.catch(() => undefined);
    sweeps?.stop();
    await options.beforeStop?.();
    await Promise.all([watch?.stop(), ...[...pools.values()].map((pool) => pool.stop(ending.signal))]);
    clearTimeout(cut);
    // Other processes sleep until somebody tells them.
    for (const queue of givenBack) await jobQueued.notify(context.database.system, { queue }).catch(() => {});
    await boss?.stop({ graceful: false });
    ending.abort(new Error('The service is stopping.'));
  }

  async function send<Name extends JobName>(
    name: Name,
    data: JobData[Name],
    { afterMs = 0 }: SendOptions = {},
  ): Promise<void> {
    await queued(name, async (boss, job) => {
      const startAfter = afterMs > 0 ? { startAfter: new Date(Date.now() + afterMs) } : {};
      await boss.send(name, data, { ...identityOf(job, data), ...startAfter });
      if (afterMs <= 0) wakePoolOf(name);
      // The watch of this process knows when; those of the others find it within their next look.
      else watch?.look();
    });
  }

  const sendAll: Queue['sendAll'] = (name, all) => queued(name, (boss, job) => insert(boss, job, all));

  async function queued(name: JobName, work: (boss: PgBoss, job: AnyJob) => Promise<void>): Promise<void> {
    try {
      const job = jobs.find((each) => each.name === name);
      if (!job) throw new Error(`There is no job ${name}.`);
      await work(await started(), job);
    } catch (error) {
      logger.warn({ job: name, err: error }, 'a job was not queued; the next sweep finds it');
    }
  }

  if (work && begun) begun.then(startWorking);
  else if (work) startWorking();
  return {
    send,
    sendAll,
    sweep: (name) => sweeps?.sweepNow(name),
    wake(name) {
      for (const each of name ? [name] : jobs.map((job) => job.name)) wakePoolOf(each);
      watch?.look();
    },
    stop(graceMs) {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
}
