import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { type RegisterTools, registerTool, ToolRefusal } from './tool.ts';

/** Calculates one expression. Throws ToolRefusal when it cannot be calculated, or not within the limits. */
export type Calculate = (expression: string) => Promise<string>;

const MOST_CHARACTERS = 1000;
const LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
/** The library takes its time to load: it is kept this long after the last calculation. */
const KEPT_MS = 60_000;
const START_MS = 30_000;

interface Options {
  /** Milliseconds that a calculation may take. */
  timeLimitMs: number;
  /** The script of the thread. */
  script: URL;
}

/**
 * Calculates in one thread, one expression after the other. A thread that takes longer than its time, or more memory than is
 * allowed, is ended with what it does; the next calculation starts another one.
 */
export function createCalculator(options: Options): Calculate {
  let current: { worker: Worker; ready: Promise<unknown> } | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let leaving: NodeJS.Timeout | undefined;

  function start(): { worker: Worker; ready: Promise<unknown> } {
    // No flags of this process: those of a test runner, say, are not for the thread.
    const worker = new Worker(options.script, { resourceLimits: LIMITS, execArgv: [], env: {} });
    worker.unref();
    return { worker, ready: nextMessage(worker, START_MS) };
  }

  function end(): void {
    void current?.worker.terminate();
    current = undefined;
  }

  async function run(expression: string): Promise<string> {
    clearTimeout(leaving);
    current ??= start();
    try {
      await current.ready;
      const answered = nextMessage(current.worker, options.timeLimitMs);
      current.worker.postMessage(expression);
      const answer = (await answered) as { result: string } | { error: string };
      leaving = setTimeout(end, KEPT_MS).unref();
      if ('error' in answer) throw new ToolRefusal(answer.error);
      return answer.result;
    } catch (error) {
      if (!(error instanceof ToolRefusal) || error instanceof Stopped) end();
      throw error;
    }
  }

  return (expression) => {
    const turn = queue.then(() => run(expression));
    queue = turn.catch(() => undefined);
    return turn;
  };
}

/** The thread was too slow, or ended: it is of no more use. */
class Stopped extends ToolRefusal {}

/** The next message of the thread. Rejects with Stopped when it ends first, or the time is up. Keeps the process alive meanwhile. */
function nextMessage(worker: Worker, limitMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      clearTimeout(timer);
      worker.off('message', heard).off('error', ended).off('exit', ended);
      act();
    };
    const heard = (message: unknown) => settle(() => resolve(message));
    const ended = () => settle(() => reject(new Stopped('The calculation takes too much memory.')));
    const late = () => settle(() => reject(new Stopped(`The calculation takes longer than ${limitMs / 1000} s.`)));
    const timer = setTimeout(late, limitMs);
    worker.on('message', heard).on('error', ended).on('exit', ended);
  });
}

const calculate = createCalculator({
  timeLimitMs: 2000,
  script: new URL('./calculatorWorker.ts', import.meta.url),
});

/** Arithmetic with 64 significant digits. */
export const registerCalculator: RegisterTools = (server, host) => {
  registerTool(
    server,
    host,
    {
      name: 'calculate',
      title: 'Calculate',
      description:
        'Calculates an expression exactly: + - * / ^ % mod, brackets, percentages (200 + 5%), comparisons, factorials, ' +
        'sqrt, log, exp, trigonometry in radians, min, max, sum, mean, median, std, gcd, lcm, round, combinations and the like; ' +
        'pi and e. Example: (1200 * 1.19 - 50) / 12',
      input: z.object({ expression: z.string().min(1).max(MOST_CHARACTERS).describe('The expression') }),
    },
    ({ expression }) => calculate(expression),
  );
};
