import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { launchAs, postgresAccount } from './embedded/account.ts';
import type { Binaries, Cluster } from './embedded/cluster.ts';
import { findBinaries, makeDataFolder, openCluster, readPassword } from './embedded/cluster.ts';
import { lockFolder } from './embedded/folder-lock.ts';

/** A PostgreSQL that runs as a child of this process. */
export type EmbeddedPostgres = {
  port: number;
  /** Superuser, database `postgres`. */
  adminUrl: string;
  /** The service's login `guildhall`, which owns the database `guildhall` and is no superuser. */
  url(database?: string): string;
  /** Fast shutdown; settles when PostgreSQL has ended and the data folder is free. `patient` lets other sessions finish first. */
  stop(options?: { patient?: boolean }): Promise<void>;
  /** Calls back once if PostgreSQL ends by itself. */
  onExit(listener: (reason: string) => void): void;
};

export type EmbeddedOptions = {
  dataDir: string;
  /** Gets what PostgreSQL has to say from WARNING upwards (statement errors excepted). */
  log?: (line: string) => void;
  /** Tests only: no fsync, so that a power cut may destroy the data. */
  unsafeFast?: boolean;
  /** How long to wait for another process to leave the data folder; default 3000. */
  waitMillis?: number;
};

const DATABASE = 'guildhall';
const SHUTDOWN_MILLIS = 30_000;
const ATTACH_MILLIS = 20_000;
const START_ATTEMPTS = 200;
const RETRY_MILLIS = 50;

const SETTINGS = [
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=100', 'shared_buffers=128MB'],
  ...['jit=off', 'io_method=sync', 'max_parallel_workers_per_gather=0', 'timezone=UTC', 'log_timezone=UTC'],
  ...['log_line_prefix=', 'log_min_error_statement=panic', 'log_checkpoints=off'],
];
const UNSAFE_SETTINGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off'];

/**
 * Starts the PostgreSQL of `dataDir`, which it makes when there is none, on a free loopback port with a password.
 * One process owns a data folder: a second caller is refused. What a killed owner left behind (a running PostgreSQL, a
 * stale pid file, a half-made cluster) is cleared away first.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const binariesFound = findBinaries();
  binariesFound.catch(() => {}); // awaited below
  const dataDir = await makeDataFolder(options.dataDir);
  const lock = await lockFolder(dataDir, options.waitMillis ?? 3000);
  if (!lock) {
    throw new Error(`Another Guildhall process uses the data folder ${dataDir}: stop it, or set GUILDHALL_DATA_DIR to another folder`);
  }
  try {
    const binaries = await binariesFound;
    const cluster = await openCluster(dataDir, binaries, options.unsafeFast === true);
    if (!cluster.created) await stopOrphan(cluster.pgdata);
    const server = await startServer(cluster, binaries, options);
    const embedded = describe(server, cluster.password, lock.release);
    try {
      await ensureDatabase(embedded.adminUrl, cluster.password);
    } catch (error) {
      await embedded.stop();
      throw error;
    }
    return embedded;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * For commands beside the service: reaches the PostgreSQL of a running service, or starts it as `startEmbedded` does.
 * `stop()` ends only what this call started, and lets other commands that attached meanwhile finish.
 */
export async function attachEmbedded(
  dataDir: string,
  log?: (line: string) => void,
): Promise<{ url(database?: string): string; stop(): Promise<void> }> {
  const folder = await makeDataFolder(dataDir);
  const deadline = Date.now() + ATTACH_MILLIS;
  for (;;) {
    const lock = await lockFolder(folder, 0);
    if (lock) {
      lock.release();
      // Another process may come first between the two calls: then the next round attaches to it.
      const own = await startEmbedded({ dataDir: folder, waitMillis: 0, ...(log ? { log } : {}) }).catch((error: unknown) => {
        if (Error.isError(error) && error.message.startsWith('Another Guildhall process')) return undefined;
        throw error;
      });
      if (own) return { url: own.url, stop: () => own.stop({ patient: true }) };
    } else {
      const url = await urlOfRunning(folder);
      if (url) return { url, stop: async () => {} };
    }
    if (Date.now() > deadline) throw new Error(`The service that uses ${folder} does not let anybody reach its PostgreSQL`);
    await sleep(RETRY_MILLIS);
  }
}

type Server = { child: ChildProcess; port: number; exited: Promise<string> };

function describe(server: Server, password: string, release: () => void): EmbeddedPostgres {
  let stopping: Promise<void> | undefined;
  const listeners = new Set<(reason: string) => void>();
  const exited = server.exited.then((reason) => {
    release();
    if (!stopping) for (const listener of listeners) listener(reason);
  });
  return {
    port: server.port,
    adminUrl: urlFor('postgres', password, server.port, 'postgres'),
    url: (database = DATABASE) => urlFor(DATABASE, password, server.port, database),
    onExit: (listener) => void listeners.add(listener),
    stop(options = {}) {
      stopping ??= (async () => {
        if (options.patient) {
          server.child.kill('SIGTERM');
          await Promise.race([exited, sleep(10_000, undefined, { ref: false })]);
        }
        server.child.kill('SIGINT');
        await Promise.race([exited, sleep(SHUTDOWN_MILLIS, undefined, { ref: false })]);
        server.child.kill('SIGQUIT'); // without effect on a child that has ended
        await exited;
      })();
      return stopping;
    },
  };
}

function urlFor(user: string, password: string, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/** Postmaster's own pid file, whose lines are fixed: pid, folder, start time, port, … (PostgreSQL documentation, "postmaster.pid"). */
async function readPidFile(pgdata: string): Promise<{ pid: number; port: number; text: string } | undefined> {
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

async function stopOrphan(pgdata: string): Promise<void> {
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
  for (const [signal, millis] of [['SIGINT', 10_000], ['SIGQUIT', 5000]] as const) {
    try {
      process.kill(recorded.pid, signal);
    } catch (error) {
      if ((error as { code?: string }).code !== 'ESRCH') {
        throw new Error(`A PostgreSQL of another user (process ${recorded.pid}) runs in ${pgdata}: stop it`, { cause: error });
      }
    }
    for (const deadline = Date.now() + millis; Date.now() < deadline; await sleep(10)) {
      if (!(await isPostmasterOf(recorded.pid, pgdata))) return;
    }
  }
  throw new Error(`The PostgreSQL that an earlier process left in ${pgdata} (process ${recorded.pid}) does not end`);
}

async function startServer(cluster: Cluster, binaries: Binaries, options: EmbeddedOptions): Promise<Server> {
  const account = await postgresAccount(cluster.pgdata);
  if (!account && process.getuid && (await stat(cluster.pgdata)).uid !== process.getuid()) {
    throw new Error(`${cluster.pgdata} belongs to another user: run the service as that user, or set GUILDHALL_DATA_DIR`);
  }
  const launch = await launchAs(account, [binaries.postgres, cluster.pgdata]);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
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
    if (!passing || attempt >= START_ATTEMPTS) throw new Error(`PostgreSQL did not start in ${cluster.pgdata}: ${outcome.output}`);
    await sleep(RETRY_MILLIS);
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

/** The service's roles and database. Each step may be there already, from a start that was killed in the middle. */
async function ensureDatabase(adminUrl: string, password: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount) return;
    const existing = await client.query<{ rolname: string }>('select rolname from pg_roles');
    const roles = new Set(existing.rows.map((row) => row.rolname));
    if (!roles.has(DATABASE)) await client.query(`create role ${DATABASE} login password ${client.escapeLiteral(password)}`);
    for (const role of ['guildhall_app', 'guildhall_system']) {
      if (!roles.has(role)) await client.query(`create role ${role}`);
    }
    await client.query(`grant guildhall_app, guildhall_system to ${DATABASE}`);
    await client.query(`create database ${DATABASE} owner ${DATABASE}`);
  });
}

async function urlOfRunning(dataDir: string): Promise<((database?: string) => string) | undefined> {
  const recorded = await readPidFile(join(dataDir, 'postgres', 'pgdata'));
  if (!recorded?.port) return undefined;
  try {
    const password = await readPassword(dataDir);
    const url = (database = DATABASE) => urlFor(DATABASE, password, recorded.port, database);
    await withClient(url(), async (client) => await client.query('select 1'));
    return url;
  } catch {
    return undefined; // still starting, or already stopping
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, application_name: 'guildhall-embedded' });
  client.on('error', () => {}); // the query in flight reports it
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Removes a data folder that nobody uses any more: for tests and throw-away runs. */
export async function removeDataFolder(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
}
