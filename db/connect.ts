import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import type { DB } from '../generated/db.ts';
import { ConnectionPlaces } from './connectionPlaces.ts';
import { ConnectionWatch } from './connectionWatch.ts';
import { Listener } from './listen.ts';
import { WriteRefusals } from './refusals.ts';
import { Session, type SessionSettings, WorkspaceSettings } from './session.ts';

/** How the database is reached. */
export type ConnectOptions = {
  /** Most connections for requests; a quarter as many again serve work across workspaces. Default 20. */
  poolSize?: number;
  /** Address of the database itself when `url` is that of a pooler: notifications come over it. Default `url`. */
  directUrl?: string;
  /** Prepare repeated statements on the server. Default true; false behind a pooler that loses them. */
  prepare?: boolean;
  /** Whether the server is a coordinator of Citus, to whose workers role and workspace are passed on. Default false. */
  citus?: boolean;
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
  /** Sees what `system` sees, and gives up after 3 s: for the look-up of keys, which every request waits for. */
  keys: Kysely<DB>;
  /** Sees one workspace, whatever the query says: row-level security of the role guildhall_app. */
  forWorkspace(workspaceId: string): Kysely<DB>;
  /** NOTIFY payloads of a channel; `onGap` is called after a lost connection, when some may have been missed. */
  listen(channel: string, handler: (payload: string) => void, onGap?: () => void): Promise<() => void>;
  /** How the queue connects, to the database itself. Its connections are given up when the server falls silent. */
  queueConfig: pg.PoolConfig;
  /** Settles when the database answers and takes writes. Rejects when it does not within 2 s; `refusalOf` the error knows why it takes none. */
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
const STATEMENT_TIMEOUT_MS = 30_000;
/** Each request waits for the look-up of its key, which reads one row. */
const KEY_TIMEOUT_MS = 3000;
/** So much longer than the server may work on a statement, its answer may take. */
const PATIENCE_MS = 2000;
/** Nobody waits longer to hear whether the database answers. */
const PING_MS = 2000;
const HEARTBEAT_ANSWER_MS = 2000;
/** The queue's statements touch few rows. What runs longer is given up, and done again. */
const QUEUE_ANSWER_MS = 8000;

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
  const config = clientConfig(url, options);
  const directConfig = clientConfig(options.directUrl ?? url, options);
  const watch = new ConnectionWatch(config);
  const directWatch = options.directUrl === undefined ? watch : new ConnectionWatch(directConfig);
  const refusals = new WriteRefusals();
  const app = new RolePool('guildhall_app', poolSize, { ...options, config, watch, refusals, places });
  const systemSize = Math.max(2, Math.ceil(poolSize / 4));
  const system = new RolePool('guildhall_system', systemSize, { ...options, config, watch, refusals });
  const listener = new Listener(directConfig, directWatch.clientClass(HEARTBEAT_ANSWER_MS));
  const workspaces = new Map<string, Kysely<DB>>();
  return {
    system: handleOn(system.facade('')),
    keys: handleOn(system.facade('', KEY_TIMEOUT_MS)),
    queueConfig: { ...directConfig, types: undefined, Client: directWatch.clientClass(QUEUE_ANSWER_MS) },
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
    ping: () => inTime(system.ping(), () => void watch.check()),
    usage: () => ({ total: app.pool.totalCount, idle: app.pool.idleCount, waiting: places.waiting }),
    end: async () => {
      const closing = Promise.all([app.pool.end(), system.pool.end(), listener.end()]);
      await Promise.all([watch.end(closing), directWatch.end(closing)]);
    },
  };
}

function handleOn(pool: PostgresPool): Kysely<DB> {
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}

/** The promise, or an error when it takes too long, which `onSilence` hears of. */
async function inTime(answer: Promise<void>, onSilence: () => void): Promise<void> {
  const late = new AbortController();
  answer.catch(() => {});
  const deadline = sleep(PING_MS, undefined, { signal: late.signal }).then(() => {
    onSilence();
    throw new Error('timeout exceeded when trying to connect');
  });
  try {
    await Promise.race([answer, deadline]);
  } finally {
    late.abort();
    deadline.catch(() => {});
  }
}

/** How long an answer may take: the server has a moment to cancel a statement that exceeds its time. */
function patienceOf(statementTimeoutMs: number): number {
  return statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : statementTimeoutMs + PATIENCE_MS;
}

/** What a pool needs besides the options. */
type PoolOptions = ConnectOptions & {
  config: pg.ClientConfig;
  watch: ConnectionWatch;
  refusals: WriteRefusals;
  /** Workspaces take turns when connections are waited for. */
  places?: ConnectionPlaces;
};

/** A pool whose statements run as one role. */
class RolePool {
  readonly pool: pg.Pool;
  readonly #settings: SessionSettings;
  readonly #sessions = new WeakMap<pg.PoolClient, Session>();
  readonly #watch: ConnectionWatch;
  readonly #refusals: WriteRefusals;
  #pinging: Promise<void> | undefined;
  readonly #places: ConnectionPlaces | undefined;
  /** The workspace that each connection which is in use has its place from. */
  readonly #holders = new WeakMap<pg.PoolClient, string>();

  constructor(role: string, size: number, options: PoolOptions) {
    const {
      prepare = true,
      citus = false,
      statementTimeoutMs = STATEMENT_TIMEOUT_MS,
      config,
      watch,
      refusals,
      places,
    } = options;
    this.#places = places;
    this.#watch = watch;
    this.#refusals = refusals;
    const onError = (error: unknown) => refusals.note(error);
    this.#settings = {
      role,
      prepare,
      passedOn: citus,
      statementTimeoutMs,
      onError,
      onPreparedLost: options.onPreparedLost,
    };
    const Client = watch.clientClass(patienceOf(statementTimeoutMs));
    this.pool = new pg.Pool({ ...config, Client, max: size, min: 1, idleTimeoutMillis: 60_000 });
    const onLost = options.onConnectionError ?? (() => {});
    this.pool.on('error', onLost);
    // The pool handles errors of idle clients only: without this, a backend that dies during a request ends the process.
    this.pool.on('connect', (client) => void client.on('error', onLost));
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

  /** Asks over one connection whether the database takes writes; whoever calls it meanwhile gets the same answer. */
  ping(): Promise<void> {
    this.#pinging ??= this.#ping().finally(() => {
      this.#pinging = undefined;
    });
    return this.#pinging;
  }

  async #ping(): Promise<void> {
    const client = await this.pool.connect();
    this.#watch.setPatience(client, PING_MS);
    try {
      await this.#refusals.check(client);
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** The pool as the Kysely of one workspace sees it. */
  facade(workspaceId: string, statementTimeoutMs = this.#settings.statementTimeoutMs): PostgresPool {
    const workspace = new WorkspaceSettings(this.#settings, workspaceId, statementTimeoutMs);
    return {
      connect: async () => {
        const client = await this.#clientFor(workspaceId);
        let session = this.#sessions.get(client);
        if (!session) {
          session = new Session(client, this.#settings);
          this.#sessions.set(client, session);
        }
        this.#watch.setPatience(client, patienceOf(statementTimeoutMs));
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
