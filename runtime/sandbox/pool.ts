import { availableParallelism } from 'node:os';
import { ThreadPool, type ThreadPoolOptions } from '../../core/threadPool.ts';
import { SANDBOX_LIMITS, type SandboxResult } from './limits.ts';

/** What the service runs code with; tests have fewer threads. */
export const SANDBOX: ThreadPoolOptions<SandboxResult> = {
  script: new URL('./worker.ts', import.meta.url),
  // Megabytes of the thread's own; the memory of WebAssembly is beside it.
  limits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 },
  // Loading takes a tenth of a second.
  keptMs: 60_000,
  // A core is left to requests where there are several.
  threads: Math.min(4, Math.max(1, availableParallelism() - 1)),
  waitingOfOne: 16,
  waitingOfAll: 128,
  // For a thread that takes no notice of its own limit.
  limitMs: SANDBOX_LIMITS.timeMs + 2_000,
  isSpent: ({ spent }) => spent,
};

/** Runs code; the one of this process. */
export const sandbox = new ThreadPool<string, SandboxResult>(SANDBOX);
