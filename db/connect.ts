import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { DB } from '../generated/db.ts';
import { ConnectionPlaces } from './connectionPlaces.ts';
import { Listener } from './listen.ts';
import { Session, type SessionSettings, WorkspaceSettings } from './session.ts';

/** How the database is reached. */
export type ConnectOptions = {
  /** Most connections for requests; a quarter as many again serve work across workspaces. Default 20. */
  poolSize?: number;
  /** Address of the database itself when `url` is that of a pooler: notifications come over it. Default `url`. */
  directUrl?: string;
  /** Prepare repeated statements on the server. Default true; false behind a pooler that loses them. */
  prepare?: boolean;
  /** Called once when prepared statements got lost, and none are used any more. */
  onPreparedLost?: () => void;
  /** Milliseconds after which the server cancels a statement. Default 30000. */
  statementTimeoutMs?: number;
  applicationName?: string;
  /** Called when a connection breaks. The pool has replaced it already. */
  onConnectionError?: (error: Error) => void;
};

/** The database as the program uses it. */
export type Database = {
  /** Sees every workspace: key lookup, administration, schedules. Never for a request's own work. */
  system: Kysely<DB>;
  /** Sees one workspace, whatever the query says: row-level security of the role guildhall_app. */
  forWorkspace(workspaceId: string): Kysely<DB>;
  /** NOTIFY payloads of a channel; `onGap` is called after a lost connection, when some may have been missed. */
  listen(channel: string, handler: (payload: string) => void, onGap?: () => void): Promise<() => void>;
  /** Settles when the database answers, and rejects when it does not. */
  ping(): Promise<void>;
  /** Connections of the pool for requests: in all, free, and requests that wait for one. */
  usage(): { total: number; idle: number; waiting: number };
  /** Waits for queries that run, and closes every connection. */
  end(): Promise<void>;
};

/** Milliseconds for a connection that is made or waited for. */
const CONNECTION_MS = 5_000;
const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;
const MAX_WORKSPACE_HANDLES = 1000;

/**
 * How the driver reads values, in step with `db/kysely-codegen.json`. Counts and sums stay far below 2^53 and costs need no more than a double's
 * 15 digits, so both are numbers; a date has no zone and stays text.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary') {
      if (oid === INT8 || oid === NUMERIC) return Number;
      if (oid === DATE) return String;
    }
    return pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

/**
 * Opens the pools. Nothing is sent before the first query. The login of `url` must be allowed to become guildhall_app and
 * guildhall_system (the first migration sees to it); every transaction switches to one of them as it begins, without a round trip.
 */
export function connectDatabase(url: string, options: ConnectOptions = {}): Database {
  const poolSize = options.poolSize ?? 20;
  const places = new ConnectionPlaces(poolSize, CONNECTION_MS);
  const app = new RolePool(url, 'guildhall_app', poolSize, options, places);
  const system = new RolePool(url, 'guildhall_system', Math.max(2, Math.ceil(poolSize / 4)), options);
  const listener = new Listener(clientConfig(options.directUrl ?? url, options));
  const workspaces = new Map<string, Kysely<DB>>();
  const everything = handleOn(system.facade(''));
  return {
    system: everything,
    forWorkspace(workspaceId) {
      const known = workspaces.get(workspaceId);
      if (known) return known;
      const handle = handleOn(app.facade(workspaceId));
      // A handle holds no connection, so one that is still in use may be forgotten; the next request makes another.
      if (workspaces.size >= MAX_WORKSPACE_HANDLES) workspaces.clear();
      workspaces.set(workspaceId, handle);
      return handle;
    },
    listen: (channel, handler, onGap) => listener.listen(channel, handler, onGap),
    ping: async () => void (await system.pool.query('select 1')),
    usage: () => ({ total: app.pool.totalCount, idle: app.pool.idleCount, waiting: places.waiting }),
    end: async () => void (await Promise.all([app.pool.end(), system.pool.end(), listener.end()])),
  };
}

function handleOn(pool: PostgresPool): Kysely<DB> {
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}

/** A pool whose statements run as one role. */
class RolePool {
  readonly pool: pg.Pool;
  readonly #settings: SessionSettings;
  readonly #sessions = new WeakMap<pg.PoolClient, Session>();
  readonly #places: ConnectionPlaces | undefined;
  /** The workspace that each connection which is in use has its place from. */
  readonly #holders = new WeakMap<pg.PoolClient, string>();

  /** With `places`, workspaces take turns when connections are waited for. */
  constructor(url: string, role: string, size: number, options: ConnectOptions, places?: ConnectionPlaces) {
    const { prepare = true, statementTimeoutMs = 30_000 } = options;
    this.#places = places;
    this.#settings = { role, prepare, statementTimeoutMs, onPreparedLost: options.onPreparedLost };
    this.pool = new pg.Pool({ ...clientConfig(url, options), max: size, min: 1, idleTimeoutMillis: 60_000 });
    const onError = options.onConnectionError ?? (() => {});
    this.pool.on('error', onError);
    // The pool handles errors of idle clients only: without this, a backend that dies during a request ends the process.
    this.pool.on('connect', (client) => void client.on('error', onError));
    this.pool.on('release', (_error, client) => {
      const holder = this.#holders.get(client);
      this.#holders.delete(client);
      if (holder !== undefined) places?.leave(holder);
    });
  }

  async #clientFor(workspaceId: string): Promise<pg.PoolClient> {
    const turn = this.#places?.take(workspaceId);
    if (turn) await turn;
    try {
      const client = await this.pool.connect();
      this.#holders.set(client, workspaceId);
      return client;
    } catch (error) {
      this.#places?.leave(workspaceId);
      throw error;
    }
  }

  /** The pool as one workspace's Kysely sees it. */
  facade(workspaceId: string): PostgresPool {
    const workspace = new WorkspaceSettings(this.#settings, workspaceId);
    return {
      connect: async () => {
        const client = await this.#clientFor(workspaceId);
        let session = this.#sessions.get(client);
        if (!session) {
          session = new Session(client, this.#settings);
          this.#sessions.set(client, session);
        }
        try {
          await session.serve(workspace);
        } catch (error) {
          session.release(true);
          throw error;
        }
        return session;
      },
      end: async () => {}, // the pool belongs to all handles
      options: {},
    };
  }
}

/** Nothing that a pooler would refuse: of the start-up parameters, poolers know the name of the application only. */
function clientConfig(url: string, options: ConnectOptions): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: options.applicationName ?? 'guildhall',
    connectionTimeoutMillis: CONNECTION_MS,
    keepAlive: true,
    types,
  };
}
