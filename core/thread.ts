import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { untilAborted } from './deadline.ts';

/** A thread was ended without an answer: it took too long, used too much memory, or exited. Its work is lost. */
export class ThreadStopped extends Error {
  override readonly name = 'ThreadStopped';
  readonly reason: 'late' | 'memory' | 'ended';

  constructor(reason: ThreadStopped['reason'], cause?: unknown) {
    super(`The thread was stopped: ${reason}.`, { cause });
    this.reason = reason;
  }
}

/** The script of a thread and its limits. */
export interface ThreadOptions {
  /** Says `ready` when it has loaded, then answers each message with one message. */
  script: URL;
  limits: ResourceLimits;
  /** Milliseconds that the thread stays after its last answer, so that it need not load again. */
  keptMs: number;
  /** Whether requests go before the work of the thread (threadPriority.ts). */
  isBackground?: boolean;
}

const START_MS = 30_000;
/** So many times its limit a thread may take where the machine gives it too little of the processor. */
const MAX_LATENESS = 4;

/**
 * Work in a thread of its own, for what blocks or may never end: it is ended hard when it is late. The thread starts with the first
 * question and starts again after it was ended; it keeps the process alive only while it works. Without the flags and the environment
 * of this process, but for the folder of compiled modules: those of a test runner, say, are not for the thread.
 */
export class Thread {
  readonly #options: ThreadOptions;
  #current: { worker: Worker; ready: Promise<unknown> } | undefined;
  #leaving: NodeJS.Timeout | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Whether it has loaded, or is about to. */
  get isStarted(): boolean {
    return this.#current !== undefined;
  }

  /**
   * The thread's answer; one question at a time. `limitMs` counts what the thread computes, as a busy machine makes no work late, and not
   * the time that it takes to load. Throws ThreadStopped, or the reason of `signal`; either way the thread is ended.
   */
  async ask(question: unknown, { limitMs, signal }: { limitMs: number; signal?: AbortSignal }): Promise<unknown> {
    signal?.throwIfAborted();
    clearTimeout(this.#leaving);
    this.#current ??= this.#start();
    const { worker, ready } = this.#current;
    try {
      await (signal ? untilAborted(ready, signal) : ready);
      // A thread that was ready wins over an abort of the same moment.
      signal?.throwIfAborted();
      const answered = nextMessage(worker, (settled) => untilSpent(worker, limitMs, settled), signal);
      // A question that cannot be cloned throws below, and then nobody waits for the answer.
      answered.catch(() => undefined);
      worker.postMessage(question);
      const answer = await answered;
      this.#leaving = setTimeout(() => this.end(), this.#options.keptMs).unref();
      return answer;
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** Ends the thread with whatever it does. */
  end(): void {
    clearTimeout(this.#leaving);
    void this.#current?.worker.terminate();
    this.#current = undefined;
  }

  #start(): { worker: Worker; ready: Promise<unknown> } {
    const { script, limits, isBackground = false } = this.#options;
    const compiled = getCompileCacheDir();
    // With it most threads load in half the time.
    const env = compiled ? { NODE_COMPILE_CACHE: dirname(compiled) } : {};
    const worker = new Worker(script, { resourceLimits: limits, execArgv: [], env, workerData: { isBackground } });
    worker.unref();
    // An error of an idle thread must not end the process.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#current?.worker === worker) this.#current = undefined;
    });
    const ready = nextMessage(worker, (settled) => sleep(START_MS, undefined, { signal: settled }));
    ready.catch(() => undefined);
    return { worker, ready };
  }
}

/** Resolves when the thread has computed for `limitMs` from now on, or has been at it for four times as long. */
async function untilSpent(worker: Worker, limitMs: number, signal: AbortSignal): Promise<void> {
  const ofThread = () =>
    worker.cpuUsage().then(
      ({ user, system }) => (user + system) / 1000,
      () => 0, // it has ended, as its events tell
    );
  const before = ofThread();
  const last = performance.now() + MAX_LATENESS * limitMs;
  for (let leftMs = limitMs; leftMs > 0 && performance.now() < last; ) {
    // Not ever shorter parts where little is left.
    await sleep(Math.max(leftMs, limitMs / 5), undefined, { signal });
    const spent = Promise.all([before, ofThread()]).then(([from, to]) => Math.max(0, to - from));
    // A thread inside a long call of native code does not tell, and is taken to compute.
    leftMs = limitMs - (await Promise.race([spent, sleep(limitMs, Number.POSITIVE_INFINITY, { signal })]));
  }
}

/** The next message of a thread. Keeps the process alive meanwhile. `untilLate` says how long it may take, and gets a signal to stop. */
function nextMessage(
  worker: Worker,
  untilLate: (settled: AbortSignal) => Promise<void>,
  signal?: AbortSignal,
): Promise<unknown> {
  const settled = new AbortController();
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      settled.abort();
      worker.off('message', heard).off('error', failed).off('exit', ended);
      signal?.removeEventListener('abort', aborted);
      act();
    };
    const heard = (message: unknown) => settle(() => resolve(message));
    const stopped = (reason: ThreadStopped['reason'], cause?: unknown) =>
      settle(() => reject(new ThreadStopped(reason, cause)));
    const failed = (error: NodeJS.ErrnoException) =>
      stopped(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'ended', error);
    const ended = () => stopped('ended');
    const aborted = () => settle(() => reject(signal?.reason));
    untilLate(settled.signal).then(
      () => stopped('late'),
      () => undefined, // settled before
    );
    worker.on('message', heard).on('error', failed).on('exit', ended);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
