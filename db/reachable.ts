import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFault } from './errors.ts';

/** Pause between two attempts to reach the database. */
const RETRY_MS = 500;
/** How often it is said that the database is waited for. */
const NOTICE_MS = 5_000;

/** How long a start waits, and who hears of it. */
export interface WaitOptions {
  /** From the first failure on. */
  timeoutMs: number;
  /** Called every five seconds with what kept the last attempt from reaching the database. */
  waiting(reason: string): void;
  /** Ends the wait: the promise rejects with its reason. */
  signal: AbortSignal;
}

/**
 * Runs `work` on a database that may not be there yet, and again until it gets through. Rejects with the last error when that takes longer
 * than `timeoutMs`, and at once with any error that waiting does not mend, such as a wrong password.
 */
export async function whenReachable<T>(work: () => Promise<T>, options: WaitOptions): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  let reason = 'no answer yet';
  const notice = setInterval(() => options.waiting(reason), NOTICE_MS);
  try {
    for (;;) {
      options.signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        reason = reasonOf(error);
        const left = deadline - performance.now();
        if (!isPassing(error) || left <= 0) throw error;
        await sleep(Math.min(RETRY_MS, left), undefined, { signal: options.signal }).catch(() => {});
      }
    }
  } finally {
    clearInterval(notice);
  }
}

/** What an error of the database says, in one line; that of several addresses for one host has no text of its own. */
export function reasonOf(error: unknown): string {
  const texts =
    error instanceof AggregateError
      ? error.errors.map(reasonOf)
      : [Error.isError(error) ? error.message : String(error)];
  return texts.join('; ').replaceAll(/\s*\n\s*/g, ' | ');
}

/** Whether the database is not there, is starting, or has no connection left. */
function isPassing(error: unknown): boolean {
  return databaseFault(error)?.code === 'UNAVAILABLE';
}
