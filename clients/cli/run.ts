import { makeContext } from './context.ts';
import { Failure, failureJson, failureText, toFailure } from './failure.ts';
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
        cancel: () => ending.abort(new Failure('cancelled', 130, 'Cancelled.')),
        setExitCode: (code) => {
          exitCode = code;
        },
      }),
    );
    await program.parseAsync(line, { from: 'user' });
    return exitCode;
  } catch (error) {
    return await ended(error);
  } finally {
    // Requests that a command left running must not hold the process.
    ending.abort();
  }

  /** Writes why the command ended, and answers its exit code. Whoever closed the output has what they wanted. */
  async function ended(error: unknown): Promise<number> {
    if (error instanceof ClosedPipe) return QUIET;
    const { code } = error as { code?: unknown };
    try {
      if (code === 'commander.helpDisplayed' || code === 'commander.version') {
        await stdout.write(answer.help);
        return 0;
      }
      // A group without one of its commands.
      if (code === 'commander.help' && !asksForJson(argv)) {
        await stderr.write(answer.help);
        return 2;
      }
    } catch (fault) {
      return fault instanceof ClosedPipe ? QUIET : await failed(toFailure(fault));
    }
    return await failed(toFailure(error));
  }

  /** The exit code stays, also when nobody can be told. */
  async function failed(failure: Failure): Promise<number> {
    const forPeople = () => stderr.write(`${plainText(failureText(failure))}\n`);
    // Machines read the error where they read the data.
    const told = asksForJson(argv)
      ? stdout.write(`${JSON.stringify(failureJson(failure))}\n`).catch(forPeople)
      : forPeople();
    await told.catch(() => undefined);
    return failure.exitCode;
  }
}

/** Whether `--json` is among the flags, also where the rest of the line cannot be understood. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}
