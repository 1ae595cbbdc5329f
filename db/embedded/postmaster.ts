import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchAs, postgresAccount } from './account.ts';
import type { Binaries, Cluster } from './cluster.ts';

/** A running PostgreSQL; `exited` settles with the reason of its end. */
export type Server = { child: ChildProcess; port: number; exited: Promise<string> };

const START_ATTEMPTS = 200;
const RETRY_MS = 50;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=100',
  'shared_buffers=128MB',
  'jit=off',
  'io_method=sync',
  'max_parallel_workers_per_gather=0',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_line_prefix=',
  'log_min_error_statement=panic',
  'log_checkpoints=off',
];
const UNSAFE_SETTINGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off'];

/** Postmaster's own pid file, whose lines are fixed: pid, folder, start time, port, … (PostgreSQL documentation, "postmaster.pid"). */
export async function readPidFile(pgdata: string): Promise<{ pid: number; port: number; text: string } | undefined> {
  const text = await readFile(join(pgdata, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, port: Number(lines[3]), text } : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

/** A postmaster's working folder is its data folder; where /proc is missing, a living pid counts as one. */
async function isPostmasterOf(pid: number, pgdata: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const folder = await readlink(`/proc/${pid}/cwd`).catch((error: { code?: string }) => error.code ?? '');
  if (folder === 'ENOENT') return process.platform !== 'linux';
  return folder === 'EACCES' || folder === pgdata;
}

/** Ends the PostgreSQL that a killed service left in `pgdata`, and mends a pid file that would mislead. Call it with the folder's lock held. */
export async function stopOrphan(pgdata: string): Promise<void> {
  const recorded = await readPidFile(pgdata);
  if (!recorded) return;
  if (!(await isPostmasterOf(recorded.pid, pgdata))) {
    // The pid now belongs to another program, for which PostgreSQL would refuse to start. It takes its parent's pid for
    // stale, and the rest of the file still guards against backends that outlived their postmaster.
    if (isAlive(recorded.pid)) {
      await writeFile(join(pgdata, 'postmaster.pid'), recorded.text.replace(/^\d+/, String(process.pid)));
    }
    return;
  }
  for (const [signal, timeoutMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5000],
  ] as const) {
    try {
      process.kill(recorded.pid, signal);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ESRCH') {
        throw new Error(`A PostgreSQL of another user (process ${recorded.pid}) runs in ${pgdata}: stop it`, {
          cause: error,
        });
      }
    }
    for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(10)) {
      if (!(await isPostmasterOf(recorded.pid, pgdata))) return;
    }
  }
  throw new Error(`The PostgreSQL that an earlier process left in ${pgdata} (process ${recorded.pid}) does not end`);
}

/** Starts PostgreSQL on a loopback port, a free one unless `port` names it, and settles when it takes connections. */
export async function startServer(
  cluster: Cluster,
  binaries: Binaries,
  options: { log?: (line: string) => void; unsafeFast?: boolean; port?: number },
): Promise<Server> {
  const account = await postgresAccount(cluster.pgdata);
  if (!account && process.getuid && (await stat(cluster.pgdata)).uid !== process.getuid()) {
    throw new Error(
      `${cluster.pgdata} belongs to another user: run the service as that user, or set GUILDHALL_DATA_DIR`,
    );
  }
  const launch = await launchAs(account, [binaries.postgres, cluster.pgdata]);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const settings = [...SETTINGS, ...(options.unsafeFast ? UNSAFE_SETTINGS : []), `port=${port}`];
    const args = ['-D', cluster.pgdata, ...settings.flatMap((setting) => ['-c', setting])];
    const [command = binaries.postgres, ...rest] = [...launch.command, binaries.postgres, ...args];
    const child = spawn(command, rest, {
      cwd: '/',
      detached: true, // a session of its own: Ctrl-C in the terminal is for the service, which then stops PostgreSQL
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'pipe'],
      uid: launch.uid,
      gid: launch.gid,
    });
    const outcome = await ready(child, options.log ?? (() => {}));
    if (outcome.ready) return { child, port, exited: outcome.exited };
    // Right after a kill -9 its backends still hold the shared memory; and the free port may have been taken meanwhile.
    const passing = /still in use|could not bind|could not create any TCP\/IP sockets/.test(outcome.output);
    if (!passing || attempt >= START_ATTEMPTS)
      throw new Error(`PostgreSQL did not start in ${cluster.pgdata}: ${outcome.output}`);
    await sleep(RETRY_MS);
  }
}

type Outcome = { ready: true; exited: Promise<string> } | { ready: false; output: string };

async function ready(child: ChildProcess, log: (line: string) => void): Promise<Outcome> {
  const recent: string[] = [];
  const { promise: readyLine, resolve: sawReady } = Promise.withResolvers<true>();
  const lines = child.stderr ? createInterface({ input: child.stderr }) : undefined;
  let started = false;
  lines?.on('line', (line) => {
    if (!started) recent.push(line);
    if (line.includes('database system is ready to accept connections')) {
      started = true;
      sawReady(true);
    } else if (started && /^(WARNING|FATAL|PANIC):/.test(line) && !line.includes('administrator command')) {
      log(line);
    }
  });
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(`PostgreSQL ended (${signal ?? code})`));
  });
  const first = await Promise.race([readyLine, exited]);
  return first === true ? { ready: true, exited } : { ready: false, output: [...recent.slice(-20), first].join('\n') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  return await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
