import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { SourceKind } from '../files/fileKinds.ts';
import { MAX_TEXT_CHARS, UnreadableFile } from './extract/blocks.ts';
import type { ExtractLine } from './extract/extractLine.ts';
import type { Passage } from './passages.ts';

/** The limits of reading one file. */
export interface ExtractLimits {
  /** From the start of the process to its end. */
  timeMs: number;
  /** Resident memory of the process, checked several times a second. */
  memoryBytes: number;
  outputChars: number;
}

/** A usual process takes 120 MB; the largest accepted PDF takes less than 400. */
export const EXTRACT_LIMITS: ExtractLimits = {
  timeMs: 120_000,
  memoryBytes: 700 * 1024 * 1024,
  // Text as JSON, with the overlap of passages.
  outputChars: 3 * MAX_TEXT_CHARS,
};

/** The limits of the first attempt: nearly every file is read in a second. */
export const FIRST_LIMITS: ExtractLimits = { ...EXTRACT_LIMITS, timeMs: 10_000 };

const ROOT = join(import.meta.dirname, '../..');
const CHILD = join(import.meta.dirname, 'extract/child.ts');
/**
 * The reader's own code and what it imports. Not all of ROOT, which has the data folder in it by default, with the secret key and the files
 * of all workspaces.
 */
const READABLE = [
  join(ROOT, 'package.json'),
  join(ROOT, 'core/markdown.ts'),
  join(ROOT, 'core/text.ts'),
  import.meta.dirname,
  realpathSync(join(ROOT, 'node_modules')),
];
const POLL_MS = 50;
/** If this process has ended, the kernel ends a reader that still computes so long after its time limit. */
const CPU_GRACE_SECONDS = 10;
const MAX_STDERR_CHARS = 4000;

/** Reading the file took longer than the limit. */
export class SlowFile extends UnreadableFile {}

/** Messages for files whose reading exceeds a limit. */
const TOO_SLOW = 'Reading the file takes too long. Split it into smaller files.';
const TOO_LARGE_IN_MEMORY = 'Reading the file takes too much memory. Split it into smaller files.';
const TOO_MUCH_TEXT = 'There is too much text in the file. Split it into smaller files.';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Reads a file of a known kind and splits its text into passages, in a process of its own. That process has no environment
 * variables and may neither write files nor start processes. It is killed when it exceeds the limits or `signal` aborts. Throws
 * UnreadableFile for a fault of the file, the reason of `signal`, and any other Error for a fault of the service.
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
  const timer = setTimeout(() => end(new SlowFile(TOO_SLOW)), limits.timeMs);
  const watch = watchMemory(child, limits.memoryBytes, () => end(new UnreadableFile(TOO_LARGE_IN_MEMORY)));
  try {
    const found = collect(child, limits.outputChars, end);
    const { code, stderr, killedBy } = await whenClosed(child);
    if (verdict !== undefined) throw verdict;
    if (found.unreadable !== undefined) throw found.unreadable;
    if (found.passages.length === found.total) return found.passages;
    if (/heap out of memory|allocation failed/i.test(stderr)) throw new UnreadableFile(TOO_LARGE_IN_MEMORY);
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
  // The shell sets the limit and is replaced by the program.
  const child = spawn('/bin/sh', ['-c', `ulimit -t ${seconds}; exec "$0" "$@"`, process.execPath, ...args], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {}); // the process may have ended before
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL); // requests have priority
    } catch {
      // The process may have ended, or the priority may not be changed.
    }
  }
  return child;
}

interface ExtractOutput {
  passages: Passage[];
  /** How many passages the process wrote; undefined when it did not finish. */
  total: number | undefined;
  unreadable: UnreadableFile | undefined;
}

/** Collects the output. The result is complete when the process is closed. */
function collect(child: Child, maxChars: number, end: (reason: unknown) => void): ExtractOutput {
  const found: ExtractOutput = { passages: [], total: undefined, unreadable: undefined };
  let chars = 0;
  let begun = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chars += text.length;
    if (chars > maxChars) {
      end(new UnreadableFile(TOO_MUCH_TEXT));
      return;
    }
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const written of lines) {
      const line = parsed(written);
      if (line === undefined) end(new Error('The reader wrote something else than its lines.'));
      else if ('passage' in line) found.passages.push(line.passage);
      else if ('end' in line) found.total = line.end;
      else found.unreadable = new UnreadableFile(line.unreadable, { cause: line.cause ?? undefined });
    }
  });
  return found;
}

/** Returns undefined for any other line, because a parser may write to the output too. */
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

/** Linux reports the resident memory of a process in /proc. On other systems only the heap limit applies. */
function watchMemory(child: Child, maxBytes: number, tooMuch: () => void): NodeJS.Timeout {
  return setInterval(async () => {
    try {
      const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      if (Number(kilobytes) * 1024 > maxBytes) tooMuch();
    } catch {
      // The process has ended.
    }
  }, POLL_MS);
}
