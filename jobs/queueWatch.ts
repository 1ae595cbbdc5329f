import type { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { JobName } from './jobs.ts';

/** A look follows the one before it after this time at the latest. So late starts a job whose notification was lost. */
const LOOK_MS = 10_000;
/** Looks that are asked for follow one another no faster. */
const ASKED_LOOK_MS = 250;
/** While no job runs, the queue's tables are maintained at this interval: old rows are removed, and nobody waits for that. */
const MAINTENANCE_MS = 5 * 60_000;

/** What the watch of a queue is made of. */
export interface QueueWatchOptions {
  boss: Pick<PgBoss, 'getDb' | 'supervise'>;
  /** The schema of the queue's tables. */
  schema: string;
  names: readonly JobName[];
  /** Called for each kind of job of which one is due. */
  due(name: JobName): void;
  logger: Logger;
  /** Milliseconds from one look to the next; the default is for production. */
  lookMs?: number;
}

/** The watch over a queue. */
export interface QueueWatch {
  /** Looks soon: for whoever has stored when a job is due. */
  look(): void;
  /** Starts no further look, and settles when the present one has ended. */
  stop(): Promise<void>;
}

interface QueueState {
  name: JobName;
  /** Seconds until the first waiting job is due, negative when it is; null when none waits. */
  seconds: number | null;
  running: boolean;
}

/**
 * Watches the queue on behalf of workers that sleep. Queued jobs announce themselves; what does not is found here, with one statement for
 * all kinds of job: a job that is due later (it is looked for again at that very time), one whose notification was lost, and one
 * whose process died. Every process knows so when the next job is due, and an idle one asks six times a minute.
 */
export function startQueueWatch(options: QueueWatchOptions): QueueWatch {
  const { boss, schema, names, due, logger, lookMs = LOOK_MS } = options;
  // All jobs have a group, and the index of running jobs is over those that have one.
  const text = `
    select n.name, (select extract(epoch from min(j.start_after) - now())::float8 from ${schema}.job j
        where j.name = n.name and j.state < 'active' and not j.blocked) as seconds,
      exists (select from ${schema}.job j where j.name = n.name and j.state = 'active' and j.group_id is not null) as running
    from unnest($1::text[]) n (name)`;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let maintainedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  async function ask(): Promise<{ nextMs: number; running: boolean }> {
    const { rows } = (await boss.getDb().executeSql(text, [names])) as { rows: QueueState[] };
    let nextMs = lookMs;
    for (const { name, seconds } of rows) {
      if (seconds === null) continue;
      if (seconds <= 0) due(name);
      else nextMs = Math.min(nextMs, Math.ceil(seconds * 1000));
    }
    return { nextMs, running: rows.some(({ running }) => running) };
  }

  async function look(): Promise<void> {
    let nextMs = lookMs;
    try {
      const found = await ask();
      nextMs = found.nextMs;
      if (found.running || performance.now() - maintainedAt >= MAINTENANCE_MS) {
        // pg-boss ends jobs whose process is dead, and does each part of it once for all processes.
        await boss.supervise();
        maintainedAt = performance.now();
        if (found.running) nextMs = (await ask()).nextMs;
      }
    } catch (error) {
      if (!stopped) logger.warn({ err: error }, 'the queue could not be watched');
    }
    looking = undefined;
    // Asked for meanwhile: then the sooner of the two.
    plan(nextMs);
  }

  function plan(ms: number): void {
    const at = performance.now() + ms;
    if (stopped || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(begin, ms).unref();
  }

  function begin(): void {
    timerAt = Number.POSITIVE_INFINITY;
    if (looking) plan(ASKED_LOOK_MS);
    else looking = look();
  }

  begin();
  return {
    look: () => plan(ASKED_LOOK_MS),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
