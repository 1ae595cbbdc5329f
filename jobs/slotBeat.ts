import { createTask } from 'node-cron';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.ts';

/** The database is asked for the next slot this often, whatever is known: another process may have died that would have done one. */
const LOOK_MS = 30_000;
/** Slots that are further away are not waited for: a look comes before them. */
const HORIZON_MS = 10 * 60_000;
const EVERY_SECOND = '* * * * * *';

/** What the beat is made of. */
export interface SlotBeatOptions {
  /** The beat begins when this settles; at once where it is absent. */
  begin?: Promise<void>;
  /** Dispatches what is due, or a part of it: then the rest is asked for with the next beat. */
  dispatch(signal: AbortSignal): Promise<void>;
  /** When the next slot is due, if that is before `horizon`. */
  nextDue(horizon: Date): Promise<Date | undefined>;
  clock: Clock;
  logger: Pick<Logger, 'warn' | 'error' | 'info' | 'debug'>;
  /** Milliseconds from one look to the next; the default is for production. */
  lookMs?: number;
}

/** What begins slots on time. */
export interface SlotBeat {
  /** A slot was planned for this time, by any process. */
  planned(dueAt: Date): void;
  /** Looks now: for whoever may have missed that a slot was planned. */
  look(): void;
  /** Begins no further slot, and settles when the present dispatch has ended. */
  stop(): Promise<void>;
}

/**
 * Begins slots when they are due. While one is due soon, a beat compares the clock with its time once a second; the database is asked when
 * it has come. While none is, nothing beats. No slot has a timer of its own, however many there are.
 */
export function startSlotBeat(options: SlotBeatOptions): SlotBeat {
  const { begin: begun, dispatch, nextDue, clock, logger, lookMs = LOOK_MS } = options;
  const ending = new AbortController();
  const beat = createTask(EVERY_SECOND, tick, { noOverlap: true, unref: true, suppressMissedWarning: true });
  let nextAt = Number.POSITIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function expect(at: number): void {
    nextAt = at;
    // Anew each time: the beat counts by the machine's clock, which may have been set back.
    void beat.stop();
    if (!ending.signal.aborted && at < clock.now().getTime() + HORIZON_MS) void beat.start();
  }

  function tick(): void {
    if (clock.now().getTime() >= nextAt) begin();
  }

  function begin(): void {
    if (ending.signal.aborted) return;
    looking ??= look().finally(() => {
      looking = undefined;
      clearTimeout(timer);
      timer = setTimeout(begin, lookMs).unref();
    });
  }

  async function look(): Promise<void> {
    try {
      // What is planned from now on counts beside what the look finds.
      nextAt = Number.POSITIVE_INFINITY;
      const now = clock.now().getTime();
      let found = await nextDue(new Date(now + HORIZON_MS));
      if (found && found.getTime() <= now) {
        await dispatch(ending.signal);
        found = await nextDue(new Date(now + HORIZON_MS));
      }
      expect(Math.min(nextAt, found?.getTime() ?? Number.POSITIVE_INFINITY));
    } catch (error) {
      // The next look finds it all.
      void beat.stop();
      if (!ending.signal.aborted) logger.warn({ err: error }, 'due automations could not be dispatched');
    }
  }

  if (begun) void begun.then(begin);
  else begin();
  return {
    planned(dueAt) {
      if (dueAt.getTime() < nextAt) expect(dueAt.getTime());
    },
    look: begin,
    async stop() {
      ending.abort();
      clearTimeout(timer);
      await beat.destroy();
      await looking;
      clearTimeout(timer);
    },
  };
}
