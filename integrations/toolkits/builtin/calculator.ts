import { z } from 'zod';
import { ThreadStopped } from '../../../core/thread.ts';
import { ThreadLanes } from '../../../core/threadLanes.ts';
import { PoolBusy } from '../../../core/threadPool.ts';
import { type RegisterTools, registerTool, ToolRefusal } from './tool.ts';

/** Whose call it is, and the signal that ends it. */
interface Caller {
  workspaceId: string;
  signal?: AbortSignal;
}

/** Calculates one expression. Throws ToolRefusal when it cannot be calculated, or not within the limits; or the signal's reason. */
export type Calculate = (expression: string, caller: Caller) => Promise<string>;

const MAX_CHARACTERS = 1000;
const LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 2 };
const FIRST_MS = 250;
/** The thread is kept this long after the last calculation, because the library takes a while to load. */
const IDLE_MS = 60_000;

interface Options {
  /** Milliseconds that a calculation may take. */
  timeLimitMs: number;
  /** Milliseconds of the first attempt: most calculations take less than one. */
  firstMs?: number;
  /** The script of the thread. */
  script: URL;
}

/**
 * Calculates in one thread, one expression after the other; workspaces take turns. A calculation that is not short goes on in a second
 * thread, which has turns of its own. A thread that takes longer than its time, or more memory than is allowed, is terminated; the next
 * calculation starts another one.
 */
export function createCalculator({ timeLimitMs, firstMs = FIRST_MS, script }: Options): Calculate {
  const pool = new ThreadLanes<string, { result: string } | { error: string }>({
    script,
    limits: LIMITS,
    keptMs: IDLE_MS,
    limitMs: timeLimitMs,
    firstMs,
    threads: 1,
    slowThreads: 1,
    waitingOfOne: 16,
    waitingOfAll: 128,
  });
  return async (expression, { workspaceId, signal }) => {
    try {
      const answer = await pool.run(workspaceId, expression, signal);
      if ('error' in answer) throw new ToolRefusal(answer.error);
      return answer.result;
    } catch (error) {
      if (error instanceof PoolBusy) throw new ToolRefusal(`The calculator is busy: ${error.message}`);
      if (!(error instanceof ThreadStopped)) throw error;
      throw new ToolRefusal(
        error.reason === 'late'
          ? `The calculation takes longer than ${timeLimitMs / 1000} s.`
          : 'The calculation takes too much memory.',
      );
    }
  };
}

const calculate = createCalculator({
  timeLimitMs: 2000,
  script: new URL('./calculatorWorker.ts', import.meta.url),
});

/** Registers a tool for arithmetic with 64 significant digits. */
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
      input: z.object({ expression: z.string().min(1).max(MAX_CHARACTERS).describe('The expression') }),
    },
    ({ expression }) => calculate(expression, host.context()),
  );
};
