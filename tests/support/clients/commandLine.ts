import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type Io, run } from '../../../clients/cli/run.ts';
import { until } from '../poll.ts';

/** How a command ended. */
export interface Ran {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** What a test may set; the rest is a pipe in an empty environment. */
export interface CommandLineOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Cells in a line: stdin, stdout and stderr are a terminal. */
  columns?: number;
  /** What stdin has, when it is a pipe. */
  stdin?: string | Buffer;
  platform?: NodeJS.Platform;
  homeFolder?: string;
  wait?: Io['wait'];
}

/** Runs `guildhall` in this process, to its end. */
export async function guildhallCommand(argv: string[], options: CommandLineOptions = {}): Promise<Ran> {
  const session = new CommandSession(argv, options);
  session.stdin.end(options.stdin ?? '');
  return await session.ended;
}

/** A `guildhall` that runs in this process while a test types, reads and interrupts. */
export class CommandSession {
  readonly stdin = new PassThrough();
  /** Resolves when the command has ended. */
  readonly ended: Promise<Ran>;
  readonly #out = new Collector();
  readonly #err = new Collector();
  readonly #both = new Collector();
  readonly #interrupts = new Set<() => void>();
  #read = 0;
  /** Whether the terminal gives each key to the program. */
  isRaw = false;

  constructor(argv: string[], options: CommandLineOptions = {}) {
    const isTTY = options.columns !== undefined;
    const streamOf = (collector: Collector) =>
      Object.assign(new Tee([collector, this.#both]), isTTY ? { isTTY, columns: options.columns } : {});
    const setRawMode = (on: boolean) => {
      this.isRaw = on;
    };
    const io: Io = {
      stdin: Object.assign(this.stdin, isTTY ? { isTTY, setRawMode } : {}),
      stdout: streamOf(this.#out),
      stderr: streamOf(this.#err),
      env: { NO_COLOR: '1', ...options.env },
      cwd: options.cwd ?? process.cwd(),
      platform: options.platform ?? process.platform,
      homeFolder: options.homeFolder,
      onInterrupt: (listener) => {
        this.#interrupts.add(listener);
        return () => this.#interrupts.delete(listener);
      },
      ...(options.wait && { wait: options.wait }),
    };
    this.ended = run(argv, io).then((exitCode) => ({ exitCode, stdout: this.#out.text, stderr: this.#err.text }));
  }

  /** Everything so far, of stdout and stderr, as a terminal without colours would show it. */
  get screen(): string {
    return stripVTControlCharacters(this.#both.text);
  }

  /** Everything so far, with what drives the terminal. */
  get bytes(): string {
    return this.#both.text;
  }

  /** Waits until a text is shown behind what was waited for before. */
  async shows(text: string): Promise<void> {
    await until(() => {
      const at = this.screen.indexOf(text, this.#read);
      if (at < 0) return false;
      this.#read = at + text.length;
      return true;
    }).catch(() => {
      throw new Error(
        `Not shown: ${JSON.stringify(text)}. Shown since: ${JSON.stringify(this.screen.slice(this.#read))}`,
      );
    });
  }

  type(text: string): void {
    this.stdin.write(text);
  }

  /** Ctrl-C: a key where the program reads keys, else a signal. */
  interrupt(): void {
    if (this.isRaw) return void this.stdin.write('\u0003');
    if (this.#interrupts.size === 0) throw new Error('The signal would have ended the command.');
    for (const listener of [...this.#interrupts]) listener();
  }
}

class Collector {
  text = '';
}

class Tee extends Writable {
  readonly #collectors: Collector[];

  constructor(collectors: Collector[]) {
    super({ decodeStrings: true });
    this.#collectors = collectors;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    for (const collector of this.#collectors) collector.text += chunk.toString('utf8');
    done();
  }
}
