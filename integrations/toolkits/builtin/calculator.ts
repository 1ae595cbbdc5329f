import { z } from 'zod';
import { Thread, ThreadStopped } from '../../../core/thread.ts';
import { type RegisterTools, registerTool, ToolRefusal } from './tool.ts';

/** Calculates one expression. Throws ToolRefusal when it cannot be calculated, or not within the limits. */
export type Calculate = (expression: string) => Promise<string>;

const MOST_CHARACTERS = 1000;
const LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
/** The library takes its time to load: it is kept this long after the last calculation. */
const KEPT_MS = 60_000;

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
export function createCalculator({ timeLimitMs, script }: Options): Calculate {
  const thread = new Thread({ script, limits: LIMITS, keptMs: KEPT_MS });
  let queue: Promise<unknown> = Promise.resolve();

  async function run(expression: string): Promise<string> {
    let answer: { result: string } | { error: string };
    try {
      answer = (await thread.ask(expression, { limitMs: timeLimitMs })) as typeof answer;
    } catch (error) {
      if (!(error instanceof ThreadStopped)) throw error;
      throw new ToolRefusal(
        error.reason === 'late'
          ? `The calculation takes longer than ${timeLimitMs / 1000} s.`
          : 'The calculation takes too much memory.',
      );
    }
    if ('error' in answer) throw new ToolRefusal(answer.error);
    return answer.result;
  }

  return (expression) => {
    const turn = queue.then(() => run(expression));
    queue = turn.catch(() => undefined);
    return turn;
  };
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
