import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { SourceKind } from '../files/fileKinds.ts';
import { MAX_TEXT_CHARS, Unreadable } from './extract/blocks.ts';
import type { ExtractLine } from './extract/extractLine.ts';
import type { Passage } from './passages.ts';

/** What reading one file may take. */
export interface ExtractLimits {
  /** From the start of the process to its end. */
  timeMs: number;
  /** Resident memory of the process, which is looked at several times a second. */
  memoryBytes: number;
  outputChars: number;
}

/** A usual process has 120 MB; the largest PDF that is accepted stays below 400. */
export const EXTRACT_LIMITS: ExtractLimits = {
  timeMs: 120_000,
  memoryBytes: 700 * 1024 * 1024,
  // Text as JSON, with what passages repeat of each other.
  outputChars: 3 * MAX_TEXT_CHARS,
};

const ROOT = join(import.meta.dirname, '../..');
const CHILD = join(import.meta.dirname, 'extract/child.ts');
/**
 * The reader's own code and what it imports. Not all of ROOT: by default that has the data folder in it, with the secret key and
 * everybody's files.
 */
const READABLE = [
  join(ROOT, 'package.json'),
  join(ROOT, 'core/markdown.ts'),
  join(ROOT, 'core/text.ts'),
  import.meta.dirname,
  realpathSync(join(ROOT, 'node_modules')),
];
const POLL_MS = 50;
/** The kernel ends a process that outlives this one and still computes, so long after its time. */
const CPU_GRACE_SECONDS = 10;
const MAX_STDERR_CHARS = 4000;

/** What is said of a file whose reading was cut short. */
const TOO_SLOW = 'Reading the file takes too long. Split it into smaller files.';
const TOO_LARGE_IN_MEMORY = 'Reading the file takes too much memory. Split it into smaller files.';
const TOO_MUCH_TEXT = 'There is too much text in the file. Split it into smaller files.';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Reads a file of a known kind and splits its text into passages, in a process of its own: without our environment, with no right
 * to write or to start anything, and ended when it goes beyond the limits or `signal` aborts. Throws Unreadable when the file is to
 * blame, the reason of `signal`, and any other Error when we are.
 */
export async function extractPassages(
  path: string,
  kind: SourceKind,
  { signal, limits = EXTRACT_LIMITS }: { signal?: AbortSignal; limits?: ExtractLimits } = {},
): Promise<Passage[]> {
  signal?.throwIfAborted();
  const child = start(path, kind, limits);
  let verdict: unknown;
  const end = (reason: unknown) => {
    verdict ??= reason;
    child.kill('SIGKILL');
  };
  const abort = () => end(signal?.reason);
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(() => end(new Unreadable(TOO_SLOW)), limits.timeMs);
  const watch = watchMemory(child, limits.memoryBytes, () => end(new Unreadable(TOO_LARGE_IN_MEMORY)));
  try {
    const found = collect(child, limits.outputChars, end);
    const { code, stderr, killedBy } = await whenClosed(child);
    if (verdict !== undefined) throw verdict;
    if (found.unreadable !== undefined) throw found.unreadable;
    if (found.passages.length === found.total) return found.passages;
    if (/heap out of memory|allocation failed/i.test(stderr)) throw new Unreadable(TOO_LARGE_IN_MEMORY);
    throw new Error(`The reader of ${kind} files ended with ${killedBy ?? code}: ${stderr}`);
  } finally {
    signal?.removeEventListener('abort', abort);
    clearTimeout(timer);
    clearInterval(watch);
  }
}

function start(path: string, kind: SourceKind, limits: ExtractLimits): Child {
  const heapMegabytes = Math.ceil(limits.memoryBytes / 1024 / 1024);
  const args = [
    `--max-old-space-size=${heapMegabytes}`,
    '--permission',
    ...[...READABLE, path].map((each) => `--allow-fs-read=${each}`),
    CHILD,
    kind,
    path,
  ];
  const seconds = Math.ceil(limits.timeMs / 1000) + CPU_GRACE_SECONDS;
  // The shell sets the limit and becomes the program.
  const child = spawn('/bin/sh', ['-c', `ulimit -t ${seconds}; exec "$0" "$@"`, process.execPath, ...args], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {}); // it ended first
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL); // answers to requests come first
    } catch {
      // It may have ended, or may not be changed.
    }
  }
  return child;
}

interface Collected {
  passages: Passage[];
  /** How many there should be; undefined when it did not get to its end. */
  total: number | undefined;
  unreadable: Unreadable | undefined;
}

/** Takes the output in; complete when the process is closed. */
function collect(child: Child, maxChars: number, end: (reason: unknown) => void): Collected {
  const found: Collected = { passages: [], total: undefined, unreadable: undefined };
  let chars = 0;
  let begun = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chars += text.length;
    if (chars > maxChars) {
      end(new Unreadable(TOO_MUCH_TEXT));
      return;
    }
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const written of lines) {
      const line = parsed(written);
      if (line === undefined) end(new Error('The reader wrote something else than its lines.'));
      else if ('passage' in line) found.passages.push(line.passage);
      else if ('end' in line) found.total = line.end;
      else found.unreadable = new Unreadable(line.unreadable, { cause: line.cause ?? undefined });
    }
  });
  return found;
}

/** Undefined when it is no line of ours: a parser may write to the output too. */
function parsed(line: string): ExtractLine | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function whenClosed(child: Child): Promise<{ code: number | null; killedBy: string | null; stderr: string }> {
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARS);
  });
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve({ code, killedBy, stderr }));
  });
}

/** Linux tells the resident memory of a process in /proc; elsewhere only the limit of the heap holds. */
function watchMemory(child: Child, maxBytes: number, tooMuch: () => void): NodeJS.Timeout {
  return setInterval(async () => {
    try {
      const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      if (Number(kilobytes) * 1024 > maxBytes) tooMuch();
    } catch {
      // It has ended.
    }
  }, POLL_MS);
}
