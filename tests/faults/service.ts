import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { API_PREFIX } from '../../generated/operations.ts';
import { until } from '../support/poll.ts';
import { memoryFolder } from '../support/run/memoryFolder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A service as an operator runs it: a process of its own. */
export type ServiceProcess = {
  child: ChildProcess;
  /** From its ready line, such as `http://127.0.0.1:41234`. */
  origin: string;
  /** Everything that the process has written so far. */
  output(): { stdout: string; stderr: string };
  /** Settles when the process has ended and its output is complete. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

/** The cache of compiled modules that `npm start` uses: each process starts in half the time. */
const NODE_COMPILE_CACHE = join(ROOT, 'node_modules/.cache/guildhall');

const started = new Set<ChildProcess>();
const folders = new Set<string>();

/** Creates a folder that is removed after the tests. PostgreSQL's own user can enter it. */
export async function freshFolder(): Promise<string> {
  const parent = await mkdtemp(join(await memoryFolder(), 'guildhall-faults-'));
  await chmod(parent, 0o755);
  folders.add(parent);
  return join(parent, 'data');
}

/** Ends every process that still runs, and removes the folders. */
export async function cleanUp(): Promise<void> {
  await Promise.all(
    [...started].map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    }),
  );
  started.clear();
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  folders.clear();
}

/** Runs the service with this environment only; by default its main file, on a free port. No load balancer is waited for when it stops. */
export function launch(
  env: NodeJS.ProcessEnv,
  command = [process.execPath, 'server/main.ts'],
): Omit<ServiceProcess, 'origin'> {
  const [file = '', ...args] = command;
  const { PATH, HOME } = process.env;
  const child = spawn(file, args, {
    cwd: ROOT,
    env: { PATH, HOME, PORT: '0', GUILDHALL_DRAIN_SECONDS: '0', NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return { child, output: () => ({ ...written }), ended };
}

/** Runs the service and waits for its ready line. Throws its output when it ends instead. */
export async function startService(env: NodeJS.ProcessEnv, command?: string[]): Promise<ServiceProcess> {
  const service = launch(env, command);
  const ready = Promise.withResolvers<string>();
  if (service.child.stdout) {
    createInterface({ input: service.child.stdout }).on('line', (line) => {
      if (line.startsWith('ready ')) ready.resolve(line.slice('ready '.length));
    });
  }
  const first = await Promise.race([ready.promise, service.ended]);
  if (typeof first === 'string') return { ...service, origin: first };
  const { stdout, stderr } = service.output();
  throw new Error(`The service ended with ${first.signal ?? first.code}:\n${stdout}${stderr}`);
}

/** Expects a clean exit as soon as nothing runs any more, long before the grace period of 15 seconds ends. */
export async function expectPromptExit({ ended }: Pick<ServiceProcess, 'ended'>): Promise<void> {
  const since = performance.now();
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - since).toBeLessThan(10_000);
}

/** Waits until nothing listens at `origin` any more. */
export async function untilPortClosed(origin: string): Promise<void> {
  const { port, hostname } = new URL(origin);
  await until(async () => {
    const socket = connect(Number(port), hostname);
    const { promise: outcome, resolve } = Promise.withResolvers<string | undefined>();
    socket.once('connect', () => resolve('connected')).on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    const found = await outcome;
    socket.destroy();
    return found === 'ECONNREFUSED';
  });
}

/** Reads the agent and the key of the demo from the output of the first start. */
export function demoOf(service: ServiceProcess): { agentId: string; key: string } {
  const { stdout } = service.output();
  const key = /^demo key \(shown once\) (gsk_\w{40})$/m.exec(stdout)?.[1];
  const agentId = /^demo agent (\S+)$/m.exec(stdout)?.[1];
  if (!key || !agentId) throw new Error(`No demo key in:\n${stdout}`);
  return { agentId, key };
}

/** Sends a request to the API. */
export function call(
  origin: string,
  key: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${origin}${API_PREFIX}${path}`, {
    method,
    headers: { 'X-Api-Key': key, 'Content-Type': 'application/json', ...headers },
    body: body ? JSON.stringify(body) : null,
  });
}

/** Returns the JSON of a response that must be successful; the caller knows its shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response.
export async function json(response: Promise<Response>): Promise<any> {
  const answer = await response;
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Returns stored messages as `user: Hello.` */
export async function transcript(origin: string, key: string, conversationId: string): Promise<string[]> {
  const { items } = await json(call(origin, key, 'GET', `/conversations/${conversationId}/messages?limit=100`));
  return items.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
}
