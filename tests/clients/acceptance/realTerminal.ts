import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { until } from '../../support/poll.ts';

/** `script` of util-linux, which Debian always has, gives a command a terminal. That of macOS takes other arguments. */
export const hasTerminals =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** A command in a pseudo-terminal, with a test at the keyboard. */
export class RealTerminal {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  #bytes = '';
  #read = 0;

  /** `command` takes the place of the shell, which would end with it at a Ctrl-C. */
  constructor(command: string, env: Record<string, string>, cwd: string, columns = 100) {
    this.#child = spawn('script', ['-qefc', `stty cols ${columns} rows 30; exec ${command}`, '/dev/null'], {
      cwd,
      env,
      stdio: 'pipe',
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.toString('utf8');
    });
    // A command that has ended reads no more keys.
    this.#child.stdin?.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** Everything that was shown, without what drives the terminal. */
  get screen(): string {
    return stripVTControlCharacters(this.#bytes).replaceAll('\r\n', '\n');
  }

  /** Everything that was shown, as it came. */
  get bytes(): string {
    return this.#bytes;
  }

  /** Waits until a text is shown behind what was waited for before. */
  async shows(text: string): Promise<void> {
    await until(() => {
      const at = this.screen.indexOf(text, this.#read);
      if (at < 0) return false;
      this.#read = at + text.length;
      return true;
    }).catch(() => {
      throw new Error(`Not shown: ${JSON.stringify(text)}. The screen: ${this.screen}`);
    });
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Ends it, when the test did not. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
