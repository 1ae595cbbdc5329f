import { RecentUse } from './recentUse.ts';
import { Thread, type ThreadOptions } from './thread.ts';

/** The queue of waiting runs is full. The message is the second half of a sentence that begins “… is busy:”. */
export class PoolBusy extends Error {
  override readonly name = 'PoolBusy';
}

function busy(whose: string): PoolBusy {
  return new PoolBusy(`${whose} too many runs waiting. Try again in a moment.`);
}

/** The script of the threads and the limits of the pool. */
export interface ThreadPoolOptions<Answer> extends ThreadOptions {
  /** Runs at the same time. */
  threads: number;
  /** Runs of one workspace at the same time; as many as there are threads unless it is given. */
  ofOne?: number;
  /** Runs that wait, of one workspace and of all. */
  waitingOfOne: number;
  waitingOfAll: number;
  /** Milliseconds after which a thread that does not answer is ended. */
  limitMs: number;
  /** Whether the thread that gave this answer must not be used again. */
  isSpent?: (answer: Answer) => boolean;
}

/** A run that waits. */
interface Waiter {
  /** Passes a thread to it. */
  give(thread: Thread): void;
  /** Ends its wait with this error. */
  refuse(error: unknown): void;
}

/**
 * Does work in a few threads. When all are at work, runs wait, and the workspace that had the threads least lately is next. So one that asks for
 * much waits for itself, and one that asks for the first time waits for a run that is under way, however many others wait. In a full queue the
 * workspace with the most runs gives up its newest one for a workspace with fewer; among equals it is the one that had the threads most.
 */
export class ThreadPool<Question, Answer> {
  readonly #options: ThreadPoolOptions<Answer>;
  readonly #idle: Thread[];
  /** By workspace; among those that had the threads equally long, the first is next. */
  readonly #waiting = new Map<string, Waiter[]>();
  /** Runs under way by workspace. */
  readonly #running = new Map<string, number>();
  /** Milliseconds that each workspace had the threads, lately. */
  readonly #use = new RecentUse();

  constructor(options: ThreadPoolOptions<Answer>) {
    this.#options = options;
    this.#idle = Array.from({ length: options.threads }, () => new Thread(options));
  }

  /** A thread's answer. Throws PoolBusy, ThreadStopped (thread.ts), or the signal's reason as soon as it is aborted. */
  async run(workspaceId: string, question: Question, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    const { limitMs, isSpent } = this.#options;
    const free = this.#hasPlace(workspaceId) ? this.#take() : undefined;
    if (free) this.#count(workspaceId, 1);
    const thread = free ?? (await this.#wait(workspaceId, signal));
    const begun = performance.now();
    try {
      const answer = (await thread.ask(question, { limitMs, ...(signal && { signal }) })) as Answer;
      if (isSpent?.(answer)) thread.end();
      return answer;
    } finally {
      this.#use.add(workspaceId, performance.now() - begun);
      this.#count(workspaceId, -1);
      this.#release(thread);
    }
  }

  #hasPlace(workspaceId: string): boolean {
    const { threads, ofOne = threads } = this.#options;
    return (this.#running.get(workspaceId) ?? 0) < ofOne;
  }

  #count(workspaceId: string, change: 1 | -1): void {
    const running = (this.#running.get(workspaceId) ?? 0) + change;
    if (running === 0) this.#running.delete(workspaceId);
    else this.#running.set(workspaceId, running);
  }

  /** A thread that is loaded before one that is not. */
  #take(): Thread | undefined {
    const loaded = this.#idle.findIndex((thread) => thread.isStarted);
    return this.#idle.splice(Math.max(loaded, 0), 1)[0];
  }

  /** The next thread that is this run's turn. Throws PoolBusy, or the signal's reason. */
  #wait(workspaceId: string, signal: AbortSignal | undefined): Promise<Thread> {
    const { waitingOfOne, waitingOfAll } = this.#options;
    const own = this.#waiting.get(workspaceId) ?? [];
    const all = this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
    if (own.length >= waitingOfOne) throw busy('this workspace has');
    if (all >= waitingOfAll) this.#makeRoom(workspaceId, own.length);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        give: (thread) => {
          this.#count(workspaceId, 1);
          signal?.removeEventListener('abort', leave);
          resolve(thread);
        },
        refuse(error) {
          signal?.removeEventListener('abort', leave);
          reject(error);
        },
      };
      const leave = () => {
        own.splice(own.indexOf(waiter), 1);
        if (own.length === 0) this.#waiting.delete(workspaceId);
        reject(signal?.reason);
      };
      own.push(waiter);
      this.#waiting.set(workspaceId, own);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /**
   * Refuses the newest run of the workspace that has the most. Throws PoolBusy when that one has as few as this one would have, and did not
   * have the threads for longer: it would only lose its turn to an equal.
   */
  #makeRoom(workspaceId: string, own: number): void {
    const [most] = [...this.#waiting]
      .map(([id, waiters]) => ({ id, waiters, use: this.#use.of(id) }))
      .sort((one, other) => other.waiters.length - one.waiters.length || other.use - one.use);
    const spare = (most?.waiters.length ?? 0) - own - 1;
    if (!most || spare < 0 || (spare === 0 && most.use <= this.#use.of(workspaceId))) throw busy('there are');
    most.waiters.pop()?.refuse(busy('this workspace has'));
    if (most.waiters.length === 0) this.#waiting.delete(most.id);
  }

  /** Passes the thread to the next waiting run that may have it. */
  #release(thread: Thread): void {
    let next: [string, Waiter[]] | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const use = this.#hasPlace(waiting[0]) ? this.#use.of(waiting[0]) : Number.POSITIVE_INFINITY;
      if (use < least) [next, least] = [waiting, use];
    }
    if (!next) {
      this.#idle.push(thread);
      return;
    }
    const [workspaceId, own] = next;
    const waiter = own.shift();
    // Behind the others.
    this.#waiting.delete(workspaceId);
    if (own.length > 0) this.#waiting.set(workspaceId, own);
    waiter?.give(thread);
  }
}
