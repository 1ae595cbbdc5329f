import { setTimeout as sleep } from 'node:timers/promises';
import { API_VERSION } from '../../generated/calls.ts';
import type { Credential } from '../login/credential.ts';
import type { Surroundings } from '../login/folder.ts';
import type { Guildhall } from '../sdk/index.ts';
import { Failure } from './failure.ts';
import { readText } from './input.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';
import { readAnswer } from './prompt.ts';
import { plainText } from './terminal/plain.ts';

/** The options that every command has. */
export interface Flags {
  json: boolean;
  profile?: string;
  apiKey?: string;
  apiKeyFile?: string;
  baseUrl?: string;
  yes: boolean;
  /** Seconds that a request may take. */
  timeout?: number;
}

/** How `print` shows a value on a terminal. */
export interface Shape {
  /** The fields to show, in order; without them those that all items have and that fit. */
  columns?: readonly string[] | undefined;
}

/** What a command gets: the service, the user's terminal, and the global flags. Destructuring is fine: nothing needs `this`. */
export interface Context {
  readonly io: Io;
  readonly flags: Flags;
  /** Whether people read stdout: it is a terminal, and `--json` is not given. */
  readonly isForPeople: boolean;
  /** Is aborted when the command has to end early. */
  readonly signal: AbortSignal;
  /** The SDK, with the credential that counts. Throws LoginError without one. */
  api(): Promise<Guildhall>;
  /** The SDK with another credential, as `auth login` needs before it saves one. */
  apiWith(login: Pick<Credential, 'apiKey' | 'baseUrl'>): Promise<Guildhall>;
  /** Whether stdout is a terminal, whatever the flags say. */
  readonly isTerminal: boolean;
  /** From here on Ctrl-C ends requests and waits with `cancelled` (130), so that a command can tidy up. Returns what undoes it. */
  cancelOnInterrupt(): () => void;
  /** Waits. Rejects when the command ends early. */
  wait(ms: number): Promise<void>;
  /** Where logins are looked for. */
  readonly surroundings: Surroundings;
  /** Says that other users can see `--api-key`. */
  warnOfVisibleKey(): void;
  /** The credential that counts, and where it came from. */
  login(): Promise<Credential>;
  /** Writes a value to stdout: JSON in a pipe or with `--json`, a table on a terminal. Ends when the reader has taken it. */
  print(value: unknown, shape?: Shape): Promise<void>;
  /** Writes items as they come: one JSON value a line in a pipe or with `--json`, tables of a page each on a terminal. */
  printEach(items: AsyncIterable<unknown>, shape?: Shape): Promise<void>;
  /** Writes text or bytes to stdout as they are. */
  write(chunk: string | Uint8Array): Promise<void>;
  /** Writes a line to stderr, for people. */
  say(text: string): void;
  /** Asks for a yes. `--yes` answers it. Throws `no_tty` (2) without a terminal, naming `flag`; `cancelled` (1) at any other answer. */
  confirm(question: string, flag?: string): Promise<void>;
  /** Asks for a line; `hidden` shows nothing of it. Throws `no_tty` (2) without a terminal, naming `flag`. */
  ask(question: string, options: { hidden?: boolean; flag: string }): Promise<string>;
  /** Ends the command with this exit code although nothing failed. */
  setExitCode(code: 6): void;
}

/** What `run` keeps for a context. */
export interface ContextParts {
  io: Io;
  flags: Flags;
  stdout: Output;
  stderr: Output;
  signal: AbortSignal;
  /** Ends what waits for `signal`, as Ctrl-C does. */
  cancel(): void;
  setExitCode(code: number): void;
}

/** Items in one table on a terminal, as many as a page of the API may have. */
const TABLE_ROWS = 100;

/** Makes the context of one call. The SDK and the logins are loaded when they are first asked for. */
export function makeContext({ io, flags, stdout, stderr, signal, cancel, setExitCode }: ContextParts): Context {
  const isForPeople = stdout.isTerminal && !flags.json;
  const surroundings: Surroundings = {
    env: io.env,
    homeFolder: io.homeFolder,
    cwd: io.cwd,
    readInput: () => readText(io.stdin),
  };
  let credential: Promise<Credential> | undefined;
  let client: Promise<Guildhall> | undefined;

  // Nobody waits for a line to people, but a command's lines keep their order.
  const say = (text: string) => void stderr.write(`${plainText(text)}\n`).catch(() => undefined);

  async function findLogin(): Promise<Credential> {
    const [{ findCredential }, { isReadableByOthers }] = await Promise.all([
      import('../login/credential.ts'),
      import('../login/profiles.ts'),
    ]);
    if (flags.apiKey !== undefined) warnOfVisibleKey();
    const found = await findCredential(flags, surroundings);
    if (found.profile !== undefined && (await isReadableByOthers(found.source, io.platform)))
      say(`Warning: other users of this machine can read ${found.source}. Run: chmod 600 ${found.source}`);
    return found;
  }

  function warnOfVisibleKey(): void {
    say(
      'Warning: other users of this machine can see --api-key in the list of processes. Prefer --api-key-file or GUILDHALL_API_KEY.',
    );
  }

  async function apiWith({ apiKey, baseUrl }: Pick<Credential, 'apiKey' | 'baseUrl'>): Promise<Guildhall> {
    const { guildhall } = await import('../sdk/index.ts');
    return guildhall({
      apiKey,
      baseUrl,
      userAgent: `guildhall-cli/${API_VERSION}`,
      signal,
      fetch: tellingFetch(io.fetch ?? fetch, say),
      timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1_000,
    });
  }

  function login(): Promise<Credential> {
    credential ??= findLogin();
    return credential;
  }

  async function print(value: unknown, shape: Shape = {}): Promise<void> {
    if (value === undefined) return;
    if (!isForPeople) return await stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    const text = await drawing(value, shape);
    if (text) await stdout.write(`${text}\n`);
  }

  async function drawing(value: unknown, { columns }: Shape): Promise<string> {
    const [{ drawValue }, { coloursOf }] = await Promise.all([
      import('./terminal/table.ts'),
      import('./terminal/colours.ts'),
    ]);
    const colours = coloursOf(io.stdout, io.env);
    return drawValue(value, { width: stdout.columns, colours, ...(columns && { columns }) });
  }

  async function printEach(items: AsyncIterable<unknown>, shape: Shape = {}): Promise<void> {
    let rows: unknown[] = [];
    for await (const item of items) {
      if (!isForPeople) await stdout.write(`${JSON.stringify(item)}\n`);
      else if (rows.push(item) === TABLE_ROWS) {
        await print(rows, shape);
        rows = [];
      }
    }
    if (rows.length > 0) await print(rows, shape);
  }

  function needTerminal(what: string, flag: string): void {
    if (io.stdin.isTTY && stderr.isTerminal) return;
    throw new Failure('no_tty', 2, `${what}, but there is no terminal to ask on.`, { hint: `Pass ${flag}.` });
  }

  return {
    io,
    flags,
    isForPeople,
    signal,
    login,
    api() {
      client ??= login().then(apiWith);
      return client;
    },
    apiWith,
    isTerminal: stdout.isTerminal,
    cancelOnInterrupt: () => io.onInterrupt(cancel),
    wait: async (ms) => await (io.wait?.(ms, signal) ?? sleep(ms, undefined, { signal })),
    surroundings,
    warnOfVisibleKey,
    print,
    printEach,
    write: (chunk) => stdout.write(chunk),
    say,
    async confirm(question, flag = '--yes') {
      if (flags.yes) return;
      needTerminal('This needs a confirmation', flag);
      const ask = () => stderr.write(`${plainText(question)} [y/N] `);
      const answer = await readAnswer(io, { hidden: false, ask });
      if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('cancelled', 1, 'Nothing was done.');
    },
    async ask(question, { hidden = false, flag }) {
      needTerminal(`This needs an answer to “${question}”`, flag);
      const answer = await readAnswer(io, { hidden, ask: () => stderr.write(`${plainText(question)}: `) });
      if (hidden) await stderr.write('\n');
      return answer.trim();
    },
    setExitCode,
  };
}

/** `fetch` that tells people when the service asks to wait: the SDK waits in silence. */
function tellingFetch(send: typeof fetch, say: (text: string) => void): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const seconds = Number(response.headers.get('retry-after'));
    if ((response.status === 429 || response.status === 503) && seconds >= 1)
      say(`The service asks to wait ${seconds} s.`);
    return response;
  };
}
