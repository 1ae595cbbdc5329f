import { parentPort } from 'node:worker_threads';
import { adoptThreadPriority } from '../../core/threadPriority.ts';
import { type ComputationName, LOADERS } from './computations.ts';
import { TimeLimitExceeded, withinTime } from './timeLimit.ts';

/** What a thread is asked. */
export interface ThreadQuestion {
  name: ComputationName;
  args: readonly unknown[];
  limitMs: number;
}

/** What a thread answers: a result, `late` when the time was up, or what was thrown. */
export type ThreadAnswer = { result: unknown } | { late: true } | { error: unknown };

type Computation = (...args: readonly unknown[]) => unknown;

const loaded = new Map<ComputationName, Promise<Computation>>();

function load(name: ComputationName): Promise<Computation> {
  const known = loaded.get(name) ?? (LOADERS[name]() as Promise<Computation>);
  loaded.set(name, known);
  return known;
}

async function answer({ name, args, limitMs }: ThreadQuestion): Promise<ThreadAnswer> {
  try {
    const computation = await load(name);
    return { result: withinTime(limitMs, () => computation(...args)) };
  } catch (error) {
    return error instanceof TimeLimitExceeded ? { late: true } : { error };
  }
}

adoptThreadPriority();
parentPort?.on('message', async (question: ThreadQuestion) => {
  parentPort?.postMessage(await answer(question));
});
parentPort?.postMessage('ready');
