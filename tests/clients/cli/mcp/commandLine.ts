import { PassThrough, Writable } from 'node:stream';
import { run } from '../../../../clients/cli/run.ts';

/** What a command has printed, and its exit code. */
export interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line of `guildhall` in this process, in a pipe or on a terminal without colours. */
export async function commandLine(
  words: string[],
  {
    homeFolder,
    cwd,
    env = {},
    isTerminal = false,
  }: { homeFolder: string | undefined; cwd: string; env?: Record<string, string>; isTerminal?: boolean },
): Promise<Printed> {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          printed[name] += String(chunk);
          done();
        },
      }),
      isTerminal ? { isTTY: true, columns: 200 } : {},
    );
  const code = await run(words, {
    stdin: Object.assign(new PassThrough(), { isTTY: false }),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { NO_COLOR: '1', ...env },
    cwd,
    platform: 'linux',
    homeFolder,
    onInterrupt: () => () => undefined,
  });
  return { code, ...printed };
}
