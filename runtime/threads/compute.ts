import { availableParallelism } from 'node:os';
import { fault } from '../../core/errors.ts';
import { ThreadStopped } from '../../core/thread.ts';
import { PoolBusy, ThreadPool } from '../../core/threadPool.ts';
import type { ComputationName, Computations } from './computations.ts';
import type { ThreadAnswer, ThreadQuestion } from './worker.ts';

/**
 * A computation took too long or too much memory. The message is the second half of a sentence that begins with what was to be
 * computed.
 */
export class ComputationFailed extends Error {
  override readonly name = 'ComputationFailed';

  constructor(reason: 'late' | 'memory', cause?: unknown) {
    super(reason === 'late' ? 'takes too long' : 'takes too much memory', { cause });
  }
}

/** Milliseconds of the first attempt. Nearly everything takes less. */
const FIRST_MS = 50;
/** Milliseconds for a thread to load the code of a computation, and to end it when its time is up. */
const GRACE_MS = 10_000;

const RETRY_AFTER = { 'Retry-After': '1' };

const POOL = {
  script: new URL('./worker.ts', import.meta.url),
  limits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  // Loading a thread takes 0.1 s.
  keptMs: 60_000,
  limitMs: GRACE_MS,
  // A model may call very many tools at once.
  waitingOfOne: 512,
  waitingOfAll: 8_192,
} as const;

/** For first attempts. */
const quick = new ThreadPool<ThreadQuestion, ThreadAnswer>({ ...POOL, threads: Math.min(2, availableParallelism()) });
/** For what takes longer: such computations wait for each other. */
const slow = new ThreadPool<ThreadQuestion, ThreadAnswer>({ ...POOL, threads: 1, isBackground: true });

/**
 * The result of a computation, made in a thread. Workspaces take turns. A short first attempt comes before one of `limitMs`
 * milliseconds, so that short computations never wait for long ones. Throws ComputationFailed, UNAVAILABLE when very much waits already, what the computation throws, or the
 * reason of `signal` as soon as it is aborted.
 */
export async function compute<Name extends ComputationName>(
  name: Name,
  args: Parameters<Computations[Name]>,
  { workspaceId, limitMs, signal }: { workspaceId: string; limitMs: number; signal?: AbortSignal | undefined },
): Promise<ReturnType<Computations[Name]>> {
  const ask = async (pool: typeof quick, ms: number) => {
    try {
      return await pool.run(workspaceId, { name, args, limitMs: ms }, signal);
    } catch (error) {
      if (error instanceof PoolBusy) throw fault('UNAVAILABLE', undefined, { headers: RETRY_AFTER, cause: error });
      if (error instanceof ThreadStopped)
        throw new ComputationFailed(error.reason === 'late' ? 'late' : 'memory', error);
      throw error;
    }
  };
  let answer = await ask(quick, Math.min(FIRST_MS, limitMs));
  if ('late' in answer && limitMs > FIRST_MS) answer = await ask(slow, limitMs);
  if ('late' in answer) throw new ComputationFailed('late');
  if ('error' in answer) throw answer.error;
  return answer.result as ReturnType<Computations[Name]>;
}
