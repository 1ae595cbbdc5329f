import pg from 'pg';

/** How often the connections are looked at. */
const LOOK_MS = 1000;
/** A statement without any answer for this time makes the watch ask the server about the connection. */
const SUSPECT_MS = 2500;
/** Between two such questions, and as long as one may take. */
const PROBE_MS = 2000;
/** Connections that end say good-bye to the server, and do not wait longer for it to hear. */
const GOOD_BYE_MS = 2000;

/** The parts of a client that its types leave out. */
interface ClientState {
  /** Whether nothing is asked that is not answered yet; undefined while it connects. */
  readyForQuery?: boolean;
  processID: number | null;
}

/** What the watch knows of a connection. */
interface Watched {
  client: pg.Client & ClientState;
  /** Longest silence while an answer is due. */
  patienceMs: number;
  bytes: number;
  /** Since when nothing came, as far as an answer was due. */
  quietSince: number;
}

/**
 * Notices connections whose other side has fallen silent: a server that hangs, or one that a failover has replaced without a word. A
 * connection that owes an answer for longer than the server may take is closed, which fails its statement. Long before, a new connection
 * asks the server whether it knows the old one; what it does not know is closed at once.
 */
export class ConnectionWatch {
  readonly #config: pg.ClientConfig;
  readonly #watched = new Map<pg.Client, Watched>();
  readonly #timer: NodeJS.Timeout;
  #probing: Promise<void> | undefined;
  #probedAt = Number.NEGATIVE_INFINITY;

  /** `config` leads to the server whose connections are watched. */
  constructor(config: pg.ClientConfig) {
    this.#config = config;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** The class of clients that are watched; `patienceMs` is how long an answer may take if nothing else is said. */
  clientClass(patienceMs: number): typeof pg.Client {
    const watch = (client: pg.Client) => this.#add(client, patienceMs);
    return class WatchedClient extends pg.Client {
      constructor(config?: string | pg.ClientConfig) {
        super(config);
        watch(this);
      }
    };
  }

  /** From now on an answer over the connection may take this long. */
  setPatience(client: pg.Client, patienceMs: number): void {
    const watched = this.#watched.get(client);
    if (watched) watched.patienceMs = patienceMs;
  }

  /** Asks the server now which connections it still knows, and closes the others. Settles when that is done, and never rejects. */
  check(): Promise<void> {
    this.#probing ??= this.#probe()
      .catch(() => {}) // Without an answer nothing is known about the others.
      .finally(() => {
        this.#probing = undefined;
        this.#probedAt = performance.now();
      });
    return this.#probing;
  }

  /** Ends the watch once `closing` settles. Connections that nobody uses have a moment to close; then they are cut. */
  async end(closing: Promise<unknown>): Promise<void> {
    const cut = setTimeout(() => {
      for (const { client } of this.#watched.values()) if (client.readyForQuery !== false) cutOff(client);
    }, GOOD_BYE_MS);
    try {
      await closing;
    } finally {
      clearTimeout(cut);
      clearInterval(this.#timer);
    }
  }

  #add(client: pg.Client, patienceMs: number): void {
    this.#watched.set(client, { client: client as Watched['client'], patienceMs, bytes: 0, quietSince: 0 });
    client.once('end', () => this.#watched.delete(client));
  }

  #look(): void {
    const now = performance.now();
    let suspected = false;
    for (const watched of this.#watched.values()) {
      const { client, patienceMs } = watched;
      const bytes = (client.connection.stream as { bytesRead?: number }).bytesRead ?? 0;
      if (client.readyForQuery !== false || bytes !== watched.bytes) {
        watched.bytes = bytes;
        watched.quietSince = now;
      } else if (now - watched.quietSince > patienceMs) {
        cutOff(client);
        suspected = true;
      } else if (now - watched.quietSince > SUSPECT_MS) suspected = true;
    }
    if (suspected && now - this.#probedAt > PROBE_MS) void this.check();
  }

  async #probe(): Promise<void> {
    const known = [...this.#watched.values()].filter(({ client }) => client.processID !== null);
    const probe = new pg.Client({ ...this.#config, connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS });
    probe.on('error', () => {});
    try {
      await probe.connect();
      const { rows } = await probe.query<{ pid: number; own: boolean; idle: boolean }>(
        `select pid, pid = pg_backend_pid() as own, coalesce(state = 'idle' and state_change < now() - interval '1 second', false) as idle
           from pg_stat_activity where datname = current_database()`,
      );
      const own = rows.find((row) => row.own)?.pid;
      // Behind a pooler the numbers are the pooler's own, and say nothing.
      if (own !== (probe as pg.Client & ClientState).processID) return;
      const byPid = new Map(rows.map((row) => [row.pid, row]));
      const now = performance.now();
      for (const { client, quietSince } of known) {
        const found = byPid.get(client.processID ?? 0);
        const owed = client.readyForQuery === false && now - quietSince > SUSPECT_MS;
        if (!found || (owed && found.idle)) cutOff(client);
      }
    } finally {
      cutOff(probe);
    }
  }
}

function cutOff(client: pg.Client): void {
  client.connection.stream.destroy();
}
