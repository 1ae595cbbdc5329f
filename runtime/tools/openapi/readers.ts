import { availableParallelism } from 'node:os';
import { type ApiError, fault } from '../../../core/errors.ts';
import { ThreadLanes } from '../../../core/threadLanes.ts';
import { PoolBusy } from '../../../core/threadPool.ts';
import type { ImportRequest, ImportResult } from './importRequest.ts';
import type { ShrinkRequest, Shrunk } from './shrink.ts';

/** GitHub's document takes half of it as YAML, and a quarter as JSON. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Seconds after which a caller may try again when too many documents wait. */
const BUSY_SECONDS = 5;

/** The threads of this process that read documents: no document can block or exhaust the service, or stop those of other workspaces. */
export const readers = new ThreadLanes<ImportRequest | ShrinkRequest, ImportResult | Shrunk>({
  script: new URL('./worker.ts', import.meta.url),
  limits: HEAP,
  keptMs: 10_000,
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  // A usual document takes less than a tenth of this.
  firstMs: 1_000,
  // A run may last 15 seconds: those of one workspace leave a thread to the others. One that had none lately waits for a run under way.
  slowThreads: 2,
  waitingOfOne: 8,
  waitingOfAll: 64,
  limitMs: 15_000,
});

/** RATE_LIMITED, for the reason that is the second half of the message. */
export function busy(why: string): ApiError {
  const headers = { 'Retry-After': String(BUSY_SECONDS) };
  return fault('RATE_LIMITED', `The import of OpenAPI documents is busy: ${why}`, { headers });
}

/** Throws RATE_LIMITED when an error of `readers` says that too many documents wait. */
export function whenBusy(error: unknown): void {
  if (error instanceof PoolBusy) throw busy(error.message);
}
