import { APICallError } from '@ai-sdk/provider';
import { backOff, retry } from '../../core/retry.ts';
import { isTransient } from './errors.ts';

const FIRST_WAIT_MS = 500;
/** If a provider asks for a longer wait, there is no retry, and the caller gets the error at once. */
const MAX_WAIT_MS = 30_000;

/** Returns the wait that the provider requests, in ms, from retry-after-ms or retry-after (seconds or a date). */
export function requestedWaitMs(error: unknown, now: number): number | undefined {
  const headers = APICallError.isInstance(error) ? error.responseHeaders : undefined;
  const exact = Number.parseFloat(headers?.['retry-after-ms'] ?? '');
  if (exact >= 0) return exact;
  const asked = headers?.['retry-after'];
  if (asked === undefined) return undefined;
  const seconds = Number(asked);
  if (seconds >= 0) return seconds * 1_000;
  const date = Date.parse(asked);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * Runs `attempt`, and retries it up to `retries` times after transient errors, as long as `begun` is false: no part of an answer has
 * been passed on. Waits as the provider asks, else 0.5, 1, 2 … s. An abort ends the wait at once.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  options: { retries: number; begun: () => boolean; abortSignal: AbortSignal | undefined },
): Promise<T> {
  const { retries, begun, abortSignal } = options;
  const pauseMs = (error: unknown, failures: number) => {
    if (failures > retries || abortSignal?.aborted || begun() || !isTransient(error)) return undefined;
    const pause = requestedWaitMs(error, Date.now()) ?? backOff(FIRST_WAIT_MS, failures);
    return pause > MAX_WAIT_MS ? undefined : pause;
  };
  return retry(attempt, pauseMs, abortSignal);
}
