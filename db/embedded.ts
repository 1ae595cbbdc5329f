import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries, makeDataFolder, openCluster, readPassword } from './embedded/cluster.ts';
import { lockFolder } from './embedded/folderLock.ts';
import { type KeptServer, keepRunning } from './embedded/keepRunning.ts';
import { readPidFile, startServer, stopOrphan } from './embedded/postmaster.ts';

/** A PostgreSQL that runs as a child of this process. One that ends by itself is started again, at the same address. */
export type EmbeddedPostgres = {
  port: number;
  /** Superuser, database `postgres`. */
  adminUrl: string;
  /** The service's login `guildhall`, which owns the database `guildhall` and is no superuser. */
  url(database?: string): string;
  /** Fast shutdown; settles when PostgreSQL has ended and the data folder is free. `patient` lets commands that attached finish first. */
  stop(options?: { patient?: boolean }): Promise<void>;
  /** Calls back once, when PostgreSQL has ended by itself and cannot be kept running: the data folder is free then. */
  onExit(listener: (reason: string) => void): void;
};

/** Where the embedded PostgreSQL lives, and how it is started. */
export type EmbeddedOptions = {
  dataDir: string;
  /** Gets PostgreSQL's log messages from WARNING upwards, without statement errors. */
  log?: (line: string) => void;
  /** Tests only: no fsync, so that a power cut may destroy the data. */
  unsafeFast?: boolean;
  /** How long to wait for another process to leave the data folder; default 3000. */
  waitMs?: number;
};

const DATABASE = 'guildhall';
const ATTACH_MS = 20_000;
const PATIENCE_SECONDS = 10;
const RETRY_MS = 50;
/** Attached commands hold this advisory lock shared; who wants to stop their PostgreSQL takes it alone, which also keeps new ones off. */
const ATTACHED_LOCK = 7_261_548_202;

/**
 * Starts the PostgreSQL of `dataDir`, which it makes when there is none, on a free loopback port with a password.
 * One process owns a data folder: a second caller is refused. The remains of a killed owner (a running PostgreSQL, a
 * stale pid file, a half-made cluster) are removed first.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const binariesFound = findBinaries();
  binariesFound.catch(() => {}); // awaited below
  const dataDir = await makeDataFolder(options.dataDir);
  const lock = await lockFolder(dataDir, options.waitMs ?? 3000);
  if (!lock) {
    throw new Error(
      `Another Guildhall process uses the data folder ${dataDir}: stop it, or set GUILDHALL_DATA_DIR to another folder`,
    );
  }
  try {
    const binaries = await binariesFound;
    const cluster = await openCluster(dataDir, binaries, options.unsafeFast === true);
    if (!cluster.created) await stopOrphan(cluster.pgdata);
    const server = await startServer(cluster, binaries, options);
    const restart = async () => {
      await stopOrphan(cluster.pgdata);
      return startServer(cluster, binaries, { ...options, port: server.port });
    };
    const kept = keepRunning(server, { restart, release: lock.release, log: options.log ?? (() => {}) });
    const embedded = describe(kept, server.port, cluster.password);
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
  const deadline = Date.now() + ATTACH_MS;
  for (;;) {
    const lock = await lockFolder(folder, 0);
    if (lock) {
      lock.release();
      // Another process may come first between the two calls: then the next round attaches to it.
      const own = await startEmbedded({ dataDir: folder, waitMs: 0, ...(log ? { log } : {}) }).catch(
        (error: unknown) => {
          if (Error.isError(error) && error.message.startsWith('Another Guildhall process')) return undefined;
          throw error;
        },
      );
      if (own) return { url: own.url, stop: () => own.stop({ patient: true }) };
    } else {
      const running = await reachRunning(folder);
      if (running) return running;
    }
    if (Date.now() > deadline)
      throw new Error(`The service that uses ${folder} does not let anybody reach its PostgreSQL`);
    await sleep(RETRY_MS);
  }
}

function describe(kept: KeptServer, port: number, password: string): EmbeddedPostgres {
  return {
    port,
    adminUrl: urlFor('postgres', password, port, 'postgres'),
    url: (database = DATABASE) => urlFor(DATABASE, password, port, database),
    onExit: kept.onExit,
    async stop(options = {}) {
      const gate = options.patient ? await waitForAttached(urlFor(DATABASE, password, port, DATABASE)) : undefined;
      await kept.stop();
      await gate?.end();
    },
  };
}

function urlFor(user: string, password: string, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

/** The service's roles and database. Each step may have been done already, by a start that was killed in the middle. */
async function ensureDatabase(adminUrl: string, password: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount) return;
    const existing = await client.query<{ rolname: string }>('select rolname from pg_roles');
    const roles = new Set(existing.rows.map((row) => row.rolname));
    if (!roles.has(DATABASE))
      await client.query(`create role ${DATABASE} login password ${client.escapeLiteral(password)}`);
    for (const role of ['guildhall_app', 'guildhall_system']) {
      if (!roles.has(role)) await client.query(`create role ${role}`);
    }
    await client.query(`grant guildhall_app, guildhall_system to ${DATABASE}`);
    await client.query(`create database ${DATABASE} owner ${DATABASE}`);
  });
}

async function reachRunning(
  dataDir: string,
): Promise<{ url(database?: string): string; stop(): Promise<void> } | undefined> {
  const recorded = await readPidFile(join(dataDir, 'postgres', 'pgdata'));
  if (!recorded?.port) return undefined;
  try {
    const password = await readPassword(dataDir);
    const url = (database = DATABASE) => urlFor(DATABASE, password, recorded.port, database);
    const client = await connectClient(url());
    const text = 'select pg_try_advisory_lock_shared($1) as locked';
    const { rows } = await client.query<{ locked: boolean }>(text, [ATTACHED_LOCK]);
    if (rows[0]?.locked) return { url, stop: async () => await client.end() };
    await client.end();
  } catch {
    // still starting, or already stopping
  }
  return undefined;
}

/** Settles with the session that keeps others off, or without one when it cannot be had: then there is nothing to wait for. */
async function waitForAttached(url: string): Promise<pg.Client | undefined> {
  const client = await connectClient(url).catch(() => undefined);
  await client?.query(`set lock_timeout = '${PATIENCE_SECONDS}s'`).catch(() => {});
  await client?.query('select pg_advisory_lock($1)', [ATTACHED_LOCK]).catch(() => {});
  return client;
}

async function connectClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: 'guildhall-embedded',
  });
  client.on('error', () => {}); // the query in flight reports it
  await client.connect();
  return client;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectClient(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
