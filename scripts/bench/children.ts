import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_MS = 60_000;
const STOP_MS = 30_000;

/** How a child process of the benchmark is started. */
export interface ChildOptions {
  /** Path of the script, relative to the repository. */
  script: string;
  args?: readonly string[];
  /** The environment, beside the variables that every program needs. Nothing else is inherited, so that no provider key affects a measurement. */
  env?: Readonly<Record<string, string>>;
  /** Options of Node. */
  nodeArgs?: readonly string[];
  /** Matches the line that the child prints when it is ready. The first group is its address. */
  readyLine: RegExp;
  /** File for its output, so that no event loop has to read it. Absent: a pipe, for exact times. */
  logFile?: string;
}

/** A running child process. */
export interface Child {
  pid: number;
  /** Its base address. */
  url: string;
  /** Milliseconds from spawn to the ready line (rounded up to the polling interval when it logs into a file). */
  readyMs: number;
  /** Ends it with SIGTERM. Throws when it ends with an error. */
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

function baseEnv(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL'].map((name) => [name, process.env[name]]);
  // No load balancer has to see that a service stops.
  return { ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), GUILDHALL_DRAIN_SECONDS: '0' };
}

/** Starts a script with the Node of the benchmark, and waits for its ready line. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { script, args = [], env = {}, nodeArgs = [], readyLine, logFile } = options;
  const log = logFile === undefined ? undefined : openSync(logFile, 'w');
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { ...baseEnv(), ...env },
    stdio: ['ignore', log ?? 'pipe', 'inherit'],
  });
  running.add(child);
  if (log !== undefined) closeSync(log);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? '' : `ended with ${signal ?? code}`));
  });
  exited.then(() => running.delete(child));
  const ready = logFile === undefined ? fromPipe(child, readyLine) : fromFile(logFile, readyLine);
  const outcome = await Promise.race([
    ready,
    exited.then((why) => new Error(`${script} ${why || 'ended'} before it was ready.`)),
    sleep(START_MS, new Error(`${script} was not ready within ${START_MS / 1000} s.`), { ref: false }),
  ]);
  if (typeof outcome !== 'string') {
    child.kill('SIGTERM');
    throw outcome;
  }
  const readyMs = performance.now() - startedAt;
  return {
    pid: child.pid ?? 0,
    url: outcome,
    readyMs,
    async stop() {
      child.kill('SIGTERM');
      const why = await Promise.race([exited, sleep(STOP_MS, 'did not end', { ref: false })]);
      if (why) {
        child.kill('SIGKILL');
        throw new Error(`${script} ${why}.`);
      }
    },
  };
}

function fromPipe(child: ChildProcess, readyLine: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    let found = false;
    child.stdout?.on('data', (chunk: Buffer) => {
      if (found) return;
      text += chunk.toString();
      const address = readyLine.exec(text)?.[1];
      if (address === undefined) return;
      found = true;
      resolve(address);
    });
  });
}

async function fromFile(file: string, readyLine: RegExp): Promise<string> {
  for (const deadline = performance.now() + START_MS; performance.now() < deadline; await sleep(10)) {
    const address = readyLine.exec(readFileSync(file, 'utf8'))?.[1];
    if (address !== undefined) return address;
  }
  return new Promise(() => {}); // the timeout of the caller ends the wait
}

/** Ends child processes that an error left running. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs a script to its end with `input` on stdin. Returns its stdout. */
export async function runScript(file: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(process.execPath, [file, ...args], {
    cwd: ROOT,
    env: baseEnv(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.add(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  running.delete(child);
  if (code !== 0) throw new Error(`${file} ended with ${code}.`);
  return output;
}

/** Resident memory of a process in bytes. Linux only. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`The resident memory of process ${pid} cannot be read.`);
  return Number(kilobytes) * 1024;
}

/** Linux reports process times in hundredths of a second, independent of the kernel's tick. */
const TICK_MS = 10;

/** Processor time of a process in milliseconds, in user and kernel mode. Linux only. */
export function processorMs(pid: number): number {
  // The second field is the name of the program in parentheses, which may contain blanks. utime and stime are fields 14 and 15.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
