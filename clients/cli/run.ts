import { makeContext } from './context.ts';
import { failureJson, failureText, toFailure } from './failure.ts';
import type { Io } from './io.ts';
import { ClosedPipe, Output } from './output.ts';
import { buildProgram } from './program.ts';
import { plainText } from './terminal/plain.ts';

export type { Io } from './io.ts';

/** The exit code when somebody closed our output: they have what they wanted. */
const QUIET = 0;

/**
 * Runs one command line (`argv` without node and script), and returns its exit code. It never throws and never ends the process. Everything
 * is written when it returns.
 */
export async function run(argv: string[], io: Io): Promise<number> {
  const stdout = new Output(io.stdout);
  const stderr = new Output(io.stderr);
  const ending = new AbortController();
  let exitCode = 0;
  const answer = { help: '' };
  try {
    const { program, line } = await buildProgram(argv, answer, (flags) =>
      makeContext({
        io,
        flags,
        stdout,
        stderr,
        signal: ending.signal,
        setExitCode: (code) => {
          exitCode = code;
        },
      }),
    );
    await program.parseAsync(line, { from: 'user' });
    return exitCode;
  } catch (error) {
    return await reported(error).catch(() => QUIET);
  } finally {
    // Requests that a command left running must not hold the process.
    ending.abort();
  }

  async function reported(error: unknown): Promise<number> {
    if (error instanceof ClosedPipe) return QUIET;
    const { code } = error as { code?: unknown };
    if (code === 'commander.helpDisplayed' || code === 'commander.version') {
      await stdout.write(answer.help);
      return 0;
    }
    // A group without one of its commands.
    if (code === 'commander.help' && !asksForJson(argv)) {
      await stderr.write(answer.help);
      return 2;
    }
    const failure = toFailure(error);
    // Machines read the error where they read the data.
    if (asksForJson(argv)) await stdout.write(`${JSON.stringify(failureJson(failure))}\n`);
    else await stderr.write(`${plainText(failureText(failure))}\n`);
    return failure.exitCode;
  }
}

/** Whether `--json` is among the flags, also where the rest of the line cannot be understood. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}
