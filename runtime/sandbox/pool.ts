import { availableParallelism } from 'node:os';
import { Thread } from '../../core/thread.ts';
import { LIMITS, type SandboxAnswer } from './limits.ts';

/** There is no room for another run. The message says so to whoever wrote the code. */
export class SandboxBusy extends Error {
  override readonly name = 'SandboxBusy';
}

/** One that a test sets; the service's are below. */
export interface PoolOptions {
  /** Runs at the same time. */
  threads: number;
  /** Runs that wait, of one workspace and of all. */
  waitingOfOne: number;
  waitingOfAll: number;
  /** Milliseconds after which a thread that takes no notice of its own limit is ended. */
  limitMs: number;
  script: URL;
}

/** Gives a thread to a run that waits. */
type Waiting = (thread: Thread) => void;

/** Megabytes of the thread's own; the memory of WebAssembly is beside it. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 };
/** Loading takes a tenth of a second: a thread is kept this long after its last run. */
const KEPT_MS = 60_000;

/**
 * Runs code in a few threads. When all are at work, runs wait, and workspaces take turns: one that asks for much waits for itself,
 * and another one's run waits for one run of each workspace at most.
 */
export class SandboxPool {
  readonly #options: PoolOptions;
  readonly #idle: Thread[];
  /** By workspace, the one whose turn it is first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(options: PoolOptions) {
    this.#options = options;
    const { script, threads } = options;
    this.#idle = Array.from({ length: threads }, () => new Thread({ script, limits: THREAD_LIMITS, keptMs: KEPT_MS }));
  }

  /** Runs code. Throws SandboxBusy, ThreadStopped (core/thread.ts), or the signal's reason as soon as it is aborted. */
  async run(workspaceId: string, code: string, signal: AbortSignal): Promise<SandboxAnswer> {
    signal.throwIfAborted();
    const thread = this.#take() ?? (await this.#wait(workspaceId, signal));
    try {
      const answer = (await thread.ask(code, { limitMs: this.#options.limitMs, signal })) as SandboxAnswer;
      if (answer.spent) thread.end();
      return answer;
    } finally {
      this.#release(thread);
    }
  }

  /** A thread that is loaded before one that is not. */
  #take(): Thread | undefined {
    const loaded = this.#idle.findIndex((thread) => thread.isStarted);
    return this.#idle.splice(Math.max(loaded, 0), 1)[0];
  }

  /** The next thread that is this run's turn. Throws SandboxBusy, or the signal's reason. */
  #wait(workspaceId: string, signal: AbortSignal): Promise<Thread> {
    const { waitingOfOne, waitingOfAll } = this.#options;
    const own = this.#waiting.get(workspaceId) ?? [];
    const all = this.#waiting.values().reduce((sum, { length }) => sum + length, 0);
    if (own.length >= waitingOfOne || all >= waitingOfAll) {
      const whose = own.length >= waitingOfOne ? 'this workspace has' : 'there are';
      throw new SandboxBusy(`The sandbox is busy: ${whose} too many runs waiting. Try again in a moment.`);
    }
    return new Promise((resolve, reject) => {
      const give: Waiting = (thread) => {
        signal.removeEventListener('abort', leave);
        resolve(thread);
      };
      const leave = () => {
        own.splice(own.indexOf(give), 1);
        if (own.length === 0) this.#waiting.delete(workspaceId);
        reject(signal.reason);
      };
      own.push(give);
      this.#waiting.set(workspaceId, own);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives the thread to the run whose turn it is. */
  #release(thread: Thread): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#idle.push(thread);
      return;
    }
    const [workspaceId, own] = next;
    const give = own.shift();
    // Behind the others.
    this.#waiting.delete(workspaceId);
    if (own.length > 0) this.#waiting.set(workspaceId, own);
    give?.(thread);
  }
}

/** The one of this process. A core is left to requests where there are several. */
export const sandbox = new SandboxPool({
  threads: Math.min(4, Math.max(1, availableParallelism() - 1)),
  waitingOfOne: 16,
  waitingOfAll: 128,
  limitMs: LIMITS.timeMs + 2_000,
  script: new URL('./worker.ts', import.meta.url),
});
