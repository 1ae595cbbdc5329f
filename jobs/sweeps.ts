import type { Logger } from 'pino';

/** What is swept: one kind of job, or an upkeep. */
export interface SweepTarget {
  name: string;
  /** Milliseconds from the end of one sweep to the start of the next; longer after a slow sweep. */
  intervalMs: number;
  /**
   * Finds unfinished work and queues it. A rejection is logged; the next sweep comes after the interval.
   * @returns in how many milliseconds more will be due, if that is known: then the next sweep comes no later
   */
  sweep(): Promise<number | undefined>;
}

/** A sweep of what is due comes no sooner than so long after the one before it: what is due may be waiting for a place. */
const MIN_PAUSE_MS = 1_000;

/**
 * A pause is at least this many times as long as the sweep before it. A backlog of one workspace makes sweeps slow, and must not keep the
 * database busy for everybody.
 */
const PAUSE_PER_SWEEP = 9;

/** Sweeps under way. */
export interface Sweeps {
  /** Sweeps a target now, unless a sweep of it runs: for work that may have been missed. */
  sweepNow(name: string): void;
  /** Starts no further sweep. What one that runs still fails at is not logged. */
  stop(): void;
}

/** Sweeps every target at once and then at its own interval. A target that fails or hangs does not delay the others. */
export function startSweeps(targets: readonly SweepTarget[], logger: Logger): Sweeps {
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<string>();
  let stopped = false;

  async function run({ name, intervalMs, sweep }: SweepTarget): Promise<void> {
    const startedAt = performance.now();
    let dueMs: number | undefined;
    try {
      dueMs = await sweep();
    } catch (error) {
      if (!stopped) logger.warn({ job: name, err: error }, 'the sweep for lost jobs failed');
    }
    running.delete(name);
    const wantedMs = dueMs === undefined ? intervalMs : Math.min(intervalMs, Math.max(dueMs, MIN_PAUSE_MS));
    const pauseMs = Math.max(wantedMs, PAUSE_PER_SWEEP * (performance.now() - startedAt));
    if (!stopped) timers.set(name, setTimeout(begin, pauseMs, name).unref());
  }

  function begin(name: string): void {
    const target = targets.find((each) => each.name === name);
    if (!target || stopped || running.has(name)) return;
    clearTimeout(timers.get(name));
    running.add(name);
    void run(target);
  }

  for (const { name } of targets) begin(name);
  return {
    sweepNow: begin,
    stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
