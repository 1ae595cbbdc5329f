import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls `attempt` until it succeeds. After a failure, `pauseMs` returns the milliseconds to wait before the next attempt, or
 * undefined to give up: then the attempt's error is thrown. `failures` counts from 1. An abort of `signal` ends a wait with an
 * AbortError.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  pauseMs: (error: unknown, failures: number) => number | undefined,
  signal?: AbortSignal,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      const pause = pauseMs(error, failures);
      if (pause === undefined) throw error;
      await sleep(pause, undefined, signal ? { signal } : {});
    }
  }
}

/** The pause of an exponential back-off: `firstMs`, then twice as long after each failure. */
export function backOff(firstMs: number, failures: number): number {
  return firstMs * 2 ** (failures - 1);
}
