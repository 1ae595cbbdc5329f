import type { Readable, Writable } from 'node:stream';

/** A stream that may be a terminal. */
export type Terminal = { isTTY?: boolean; columns?: number };

/** Everything of the machine that a command touches, so that tests can run commands in their own process. */
export interface Io {
  stdin: Readable & { isTTY?: boolean; setRawMode?(on: boolean): unknown };
  stdout: Writable & Terminal;
  stderr: Writable & Terminal;
  env: Record<string, string | undefined>;
  cwd: string;
  platform: NodeJS.Platform;
  /** Undefined where the user has none, as in some containers. */
  homeFolder: string | undefined;
  fetch?: typeof fetch;
  /** Calls `listener` at Ctrl-C in place of the end of the process, until the function that it returns is called. */
  onInterrupt(listener: () => void): () => void;
  /** Waits; a test passes its own. Rejects when `signal` is aborted. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
}
