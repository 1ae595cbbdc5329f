import { availableParallelism } from 'node:os';
import { ThreadLanes, type ThreadLanesOptions } from '../../core/threadLanes.ts';
import { SANDBOX_LIMITS, type SandboxResult } from './limits.ts';

// Where there are several cores, one is left for requests.
const CORES = Math.min(4, Math.max(1, availableParallelism() - 1));

/** Settings of the service's pool; tests use fewer threads. */
export const SANDBOX: ThreadLanesOptions<SandboxResult> = {
  script: new URL('./worker.ts', import.meta.url),
  // Megabytes of the thread's own heap; the memory of WebAssembly comes on top.
  limits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 },
  // Loading a thread takes 0.1 s.
  keptMs: 60_000,
  threads: CORES,
  // Code that a model writes takes a few milliseconds.
  firstMs: 500,
  slowThreads: Math.ceil(CORES / 2),
  waitingOfOne: 16,
  waitingOfAll: 128,
  // For a thread that does not stop at its own limit.
  limitMs: SANDBOX_LIMITS.timeMs + 2_000,
  isSpent: ({ spent }) => spent,
};

/** The pool of this process. */
export const sandbox = new ThreadLanes<string, SandboxResult>(SANDBOX);
