import { ThreadStopped } from './thread.ts';
import { ThreadPool, type ThreadPoolOptions } from './threadPool.ts';

/** The threads and limits of both lanes. `threads` are those of the first one, `limitMs` counts in the slow one. */
export interface ThreadLanesOptions<Answer> extends Omit<ThreadPoolOptions<Answer>, 'ofOne'> {
  /** Milliseconds of the first attempt. */
  firstMs: number;
  /** Threads of the slow lane. Where there are several, one workspace leaves one of them to the others. */
  slowThreads: number;
}

/**
 * Does work that is mostly short and may be endless. Each run has a short first attempt. One that does not end in it is begun anew in the
 * slow lane, which has threads and a queue of its own. So runs that take long wait for each other. In both lanes the workspace that had the threads
 * least lately goes first (threadPool.ts). What runs may be begun twice.
 */
export class ThreadLanes<Question, Answer> {
  readonly #first: ThreadPool<Question, Answer>;
  readonly #slow: ThreadPool<Question, Answer>;

  constructor({ firstMs, slowThreads, ...options }: ThreadLanesOptions<Answer>) {
    this.#first = new ThreadPool({ ...options, limitMs: Math.min(firstMs, options.limitMs) });
    const ofOne = Math.max(1, slowThreads - 1);
    this.#slow = new ThreadPool({ ...options, threads: slowThreads, ofOne, isBackground: true });
  }

  /** A thread's answer. Throws PoolBusy (threadPool.ts), ThreadStopped (thread.ts), or the signal's reason as soon as it is aborted. */
  async run(workspaceId: string, question: Question, signal?: AbortSignal): Promise<Answer> {
    try {
      return await this.#first.run(workspaceId, question, signal);
    } catch (error) {
      if (!(error instanceof ThreadStopped && error.reason === 'late')) throw error;
    }
    return this.#slow.run(workspaceId, question, signal);
  }
}
