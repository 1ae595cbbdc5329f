import type { OutgoingClient } from '../../core/outgoing.ts';
import { callMcpTool, type McpToolResult } from './call.ts';
import { connectMcp, type McpConnection, STREAM_MILLIS } from './connect.ts';
import { asMcpFailed, McpFailed } from './failures.ts';

/** A server of a workspace, as far as a connection needs to know it. */
export interface McpServer {
  workspaceId: string;
  id: string;
  /** Goes up with every change of the address or the credential: a connection of another one is not used again. */
  configVersion: number;
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** One call of a tool. */
export interface McpCall {
  /** STATIC shares one connection among all calls, DYNAMIC makes one for this call. */
  instanceMode: 'STATIC' | 'DYNAMIC';
  tool: string;
  arguments: Record<string, unknown>;
  /** Ends the call; its own reason is thrown. */
  signal?: AbortSignal;
}

/** Limits of a pool; the defaults are what the service runs with. */
export interface McpPoolOptions {
  allowPrivateNetwork: boolean;
  /** Milliseconds for one call; one minute. */
  timeoutMs?: number;
  /** Milliseconds after which a shared connection that nobody uses is closed; five minutes. */
  idleMs?: number;
  /** Shared connections to hold; beyond, the one that was not used for longest is closed. */
  size?: number;
  outgoing?: Pick<OutgoingClient, 'guardedFetchLike'>;
}

interface Shared {
  key: string;
  configVersion: number;
  opening: Promise<McpConnection>;
  openedAt: number;
  users: number;
  retired: boolean;
  idle: NodeJS.Timeout | undefined;
}

const HANDSHAKE_MILLIS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Calls tools of MCP servers and keeps the connections that calls share: one for each server, address and credential, made when
 * it is first needed. A connection on which anything went wrong is not used again. One instance a process; close it.
 */
export class McpPool {
  readonly #options: Required<Omit<McpPoolOptions, 'outgoing'>> & Pick<McpPoolOptions, 'outgoing'>;
  /** The least recently used first. */
  readonly #shared = new Map<string, Shared>();
  readonly #open = new Set<McpConnection>();
  readonly #opening = new Set<Promise<McpConnection>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #stopped = new AbortController();

  constructor(options: McpPoolOptions) {
    this.#options = { timeoutMs: 60_000, idleMs: 5 * 60_000, size: 200, ...options };
  }

  /**
   * Calls a tool once. Where a shared session was forgotten by the server, which then did not run the tool, the call is made on a
   * new one.
   * @throws {McpFailed} the server did not answer, or not with MCP
   */
  async call(server: McpServer, call: McpCall): Promise<McpToolResult> {
    if (call.instanceMode === 'DYNAMIC') return this.#callAlone(server, call);
    for (let attempt = 0; ; attempt += 1) {
      const { shared, fresh } = this.#lease(server);
      try {
        const connection = await this.#opened(shared, call.signal);
        return await callMcpTool(connection, call.tool, call.arguments, { signal: call.signal });
      } catch (error) {
        this.#retire(shared);
        // 404 says that the session is unknown (basic/transports, session management); many servers say 400 instead.
        const forgotten = error instanceof McpFailed && (error.statusCode === 404 || error.statusCode === 400);
        if (!forgotten || fresh || attempt > 0) throw error;
      } finally {
        this.#release(shared);
      }
    }
  }

  /** Closes the shared connection to a server that was deleted. */
  forget(workspaceId: string, id: string): void {
    const shared = this.#shared.get(`${workspaceId}/${id}`);
    if (shared) this.#retire(shared);
  }

  /** Ends all calls and connections and takes leave of the servers. Resolves when no connection is left. */
  async close(): Promise<void> {
    this.#stopped.abort(new McpFailed('The service is stopping.'));
    for (const shared of this.#shared.values()) this.#retire(shared);
    for (const connection of this.#open) this.#shut(connection);
    await Promise.allSettled(this.#opening);
    await Promise.all(this.#closing);
  }

  /** How many shared connections are held. */
  get size(): number {
    return this.#shared.size;
  }

  async #callAlone(server: McpServer, { tool, arguments: args, signal }: McpCall): Promise<McpToolResult> {
    const connection = await this.#connect(server, signal);
    try {
      return await callMcpTool(connection, tool, args, { signal });
    } finally {
      this.#shut(connection);
    }
  }

  #connect(server: McpServer, signal?: AbortSignal): Promise<McpConnection> {
    const opening = this.#openConnection(server, signal);
    this.#opening.add(opening);
    const settled = () => void this.#opening.delete(opening);
    opening.then(settled, settled);
    return opening;
  }

  async #openConnection({ url, headers }: McpServer, signal?: AbortSignal): Promise<McpConnection> {
    const { allowPrivateNetwork, timeoutMs, outgoing } = this.#options;
    const until = [this.#stopped.signal, AbortSignal.timeout(HANDSHAKE_MILLIS), ...(signal ? [signal] : [])];
    const limits = { timeoutMs, maxBytes: MAX_BYTES, maxBytesPer: 'request' as const, signal: AbortSignal.any(until) };
    let connection: McpConnection;
    try {
      connection = await connectMcp({
        url,
        headers,
        allowPrivateNetwork,
        ...limits,
        ...(outgoing ? { outgoing } : {}),
      });
    } catch (error) {
      throw signal?.aborted ? signal.reason : asMcpFailed(error);
    }
    this.#open.add(connection);
    if (!this.#stopped.signal.aborted) return connection;
    this.#shut(connection);
    throw this.#stopped.signal.reason;
  }

  #lease(server: McpServer): { shared: Shared; fresh: boolean } {
    this.#stopped.signal.throwIfAborted();
    const key = `${server.workspaceId}/${server.id}`;
    const kept = this.#shared.get(key);
    // Younger than an event stream can be, by more than a call takes.
    const tooOld = performance.now() - (kept?.openedAt ?? 0) > STREAM_MILLIS / 2;
    if (kept && kept.configVersion === server.configVersion && !tooOld) {
      clearTimeout(kept.idle);
      kept.users += 1;
      this.#shared.delete(key);
      this.#shared.set(key, kept);
      return { shared: kept, fresh: false };
    }
    if (kept) this.#retire(kept);
    const opening = this.#connect(server);
    const { configVersion } = server;
    const openedAt = performance.now();
    const shared: Shared = { key, configVersion, opening, openedAt, users: 1, retired: false, idle: undefined };
    opening.then(
      ({ lost }) => lost.addEventListener('abort', () => this.#retire(shared), { once: true }),
      () => this.#retire(shared),
    );
    this.#shared.set(key, shared);
    this.#makeRoom();
    return { shared, fresh: true };
  }

  /** The connection, for one of several that may wait for it. */
  #opened(shared: Shared, signal: AbortSignal | undefined): Promise<McpConnection> {
    if (!signal) return shared.opening;
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      shared.opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  #release(shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (shared.retired) this.#shutShared(shared);
    else shared.idle = setTimeout(() => this.#retire(shared), this.#options.idleMs).unref();
  }

  /** Takes a connection out of use; it is closed when its last call ends. */
  #retire(shared: Shared): void {
    if (shared.retired) return;
    shared.retired = true;
    clearTimeout(shared.idle);
    if (this.#shared.get(shared.key) === shared) this.#shared.delete(shared.key);
    if (shared.users === 0) this.#shutShared(shared);
  }

  #makeRoom(): void {
    for (const shared of this.#shared.values()) {
      if (this.#shared.size <= this.#options.size) return;
      if (shared.users === 0) this.#retire(shared);
    }
  }

  #shutShared({ opening }: Shared): void {
    opening.then(
      (connection) => this.#shut(connection),
      () => undefined,
    );
  }

  #shut(connection: McpConnection): void {
    this.#open.delete(connection);
    const closing = connection.close();
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
  }
}
