import { untilAborted } from '../../core/deadline.ts';
import { lruCache } from '../../core/lruCache.ts';
import type { OutgoingClient } from '../../core/outgoing.ts';
import { callMcpTool, type McpToolResult } from './call.ts';
import { connectMcp, type McpConnection } from './connect.ts';
import { asMcpFailed, isProtocolFault, McpFailed, tooSlow, UNSUPPORTED_VERSION } from './failures.ts';
import { ProgressTimeout } from './progressTimeout.ts';
import { type ResourceTool, useResources } from './resources.ts';
import { MAX_STREAM_MS } from './session.ts';

/** What a connection needs to know of a workspace's server. */
export interface McpServer {
  workspaceId: string;
  id: string;
  /** Grows with every change of the address or the credential. A connection with another number is not used again. */
  configVersion: number;
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** One call of a tool. */
export interface McpCall {
  /** STATIC shares one connection among all calls, DYNAMIC opens one for this call. */
  instanceMode: 'STATIC' | 'DYNAMIC';
  tool: string;
  /** The tool is not the server's: it lists or reads resources. */
  resources?: ResourceTool | undefined;
  arguments: Record<string, unknown>;
  /** The tool's schema as the server listed it. */
  inputSchema?: Record<string, unknown> | undefined;
  /** Ends the call; its own reason is thrown. */
  signal?: AbortSignal;
}

/** Limits of a pool; the defaults are what the service runs with. */
export interface McpPoolOptions {
  allowPrivateNetwork: boolean;
  /** Milliseconds for one call; one minute. Each report of progress begins them anew. */
  timeoutMs?: number;
  /** Milliseconds for one call whose server goes on reporting progress; five minutes, as long as a turn. */
  maxTimeoutMs?: number;
  /** Milliseconds after which a shared connection that nobody uses is closed; five minutes. */
  idleMs?: number;
  /** Maximum of shared connections; above it the least recently used one is closed. */
  size?: number;
  outgoing?: Pick<OutgoingClient, 'guardedFetchLike'>;
}

/** Is told what concerns the stored list of a server's tools. */
export interface ToolListWatcher {
  /** The server says that its list changed, or a call failed as if it had. */
  changed(workspaceId: string, serverId: string): void;
  /** The list is sent to a model. */
  shown(workspaceId: string, serverId: string): void;
}

/** A call whose signal also ends it when its time is over. */
type LimitedCall = McpCall & { signal: AbortSignal; onProgress: () => void };

/** A connection that calls share, or the attempt to open it. */
interface SharedConnection {
  key: string;
  configVersion: number;
  opening: Promise<McpConnection>;
  openedAt: number;
  users: number;
  retired: boolean;
  idle: NodeJS.Timeout | undefined;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_KNOWN_SERVERS = 10_000;
const LEGACY_KNOWN_MS = 60 * 60 * 1000;

/**
 * Whether a server refused a call because of the connection, and did not run the tool. 404 means that the session is unknown
 * (basic/transports, session management); many servers send 400 instead. A server that was changed may not speak the revision of before.
 */
function isForgotten(error: unknown): boolean {
  if (error instanceof McpFailed) return error.statusCode === 404 || error.statusCode === 400;
  return isProtocolFault(error) && error.code === UNSUPPORTED_VERSION;
}

/**
 * Calls tools of MCP servers over shared connections: one for each server, address and credential, opened when it is first
 * needed. After an error a connection is not used again. There is one instance in a process; close it at the end.
 */
export class McpPool {
  /** Set once, before the first call. */
  lists: ToolListWatcher | undefined;
  readonly #options: Required<Omit<McpPoolOptions, 'outgoing'>> & Pick<McpPoolOptions, 'outgoing'>;
  /** The least recently used first. */
  readonly #shared = new Map<string, SharedConnection>();
  readonly #open = new Set<McpConnection>();
  readonly #opening = new Set<Promise<McpConnection>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  /** The servers that are known to speak a revision with sessions: they need not be asked at each connection. */
  readonly #legacy = lruCache<string, true>(MAX_KNOWN_SERVERS, { ttl: LEGACY_KNOWN_MS });

  constructor(options: McpPoolOptions) {
    this.#options = { timeoutMs: 60_000, maxTimeoutMs: 5 * 60_000, idleMs: 5 * 60_000, size: 200, ...options };
  }

  /**
   * Calls a tool once. When the server does not know the shared session any more, or speaks another revision by now, it has not run the tool:
   * the call is made again in a new session. All of it, the pages of a list and the rounds of questions too, ends within the limits of the pool.
   * @throws {McpFailed} the server did not respond, or not with MCP
   */
  async call(server: McpServer, call: McpCall): Promise<McpToolResult> {
    const { timeoutMs, maxTimeoutMs } = this.#options;
    const limit = new ProgressTimeout(timeoutMs, Math.max(timeoutMs, maxTimeoutMs));
    const signal = call.signal ? AbortSignal.any([call.signal, limit.signal]) : limit.signal;
    const limited = { ...call, signal, onProgress: () => limit.extend() };
    try {
      return await (call.instanceMode === 'DYNAMIC'
        ? this.#callAlone(server, limited)
        : this.#callShared(server, limited));
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (limit.signal.aborted) throw tooSlow(error);
      throw isProtocolFault(error) ? asMcpFailed(error) : error;
    } finally {
      limit.stop();
    }
  }

  async #callShared(server: McpServer, call: LimitedCall): Promise<McpToolResult> {
    for (let attempt = 0; ; attempt += 1) {
      const { shared, fresh } = this.#lease(server);
      try {
        // Other callers go on waiting.
        const connection = await untilAborted(shared.opening, call.signal);
        return await this.#made(connection, server, call);
      } catch (error) {
        this.#retire(shared);
        if (!isForgotten(error) || fresh || attempt > 0) throw error;
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

  /** Ends all calls, and all sessions at their servers. Resolves when no connection is left. */
  async close(): Promise<void> {
    this.#stopped.abort(new McpFailed('The service is stopping.'));
    for (const shared of this.#shared.values()) this.#retire(shared);
    for (const connection of this.#open) this.#shut(connection);
    await Promise.allSettled(this.#opening);
    await Promise.all(this.#closing);
  }

  /** Number of shared connections. */
  get size(): number {
    return this.#shared.size;
  }

  async #callAlone(server: McpServer, call: LimitedCall): Promise<McpToolResult> {
    const connection = await this.#connect(server, 'DYNAMIC', call.signal);
    try {
      return await this.#made(connection, server, call);
    } finally {
      this.#shut(connection);
    }
  }

  async #made(connection: McpConnection, { workspaceId, id }: McpServer, call: LimitedCall): Promise<McpToolResult> {
    const { tool, resources, arguments: args, inputSchema, signal, onProgress } = call;
    if (resources) return useResources(connection, resources, args, { signal, onProgress });
    const doubtsList = () => this.lists?.changed(workspaceId, id);
    return callMcpTool(connection, { name: tool, arguments: args, inputSchema }, { signal, onProgress, doubtsList });
  }

  #connect(server: McpServer, instanceMode: McpCall['instanceMode'], signal?: AbortSignal): Promise<McpConnection> {
    const opening = this.#openConnection(server, instanceMode, signal);
    this.#opening.add(opening);
    const settled = () => void this.#opening.delete(opening);
    opening.then(settled, settled);
    return opening;
  }

  async #openConnection(
    server: McpServer,
    instanceMode: McpCall['instanceMode'],
    signal?: AbortSignal,
  ): Promise<McpConnection> {
    const { workspaceId, url, headers } = server;
    const { allowPrivateNetwork, timeoutMs, maxTimeoutMs, outgoing } = this.#options;
    const until = [this.#stopped.signal, AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS), ...(signal ? [signal] : [])];
    const limits = {
      timeoutMs,
      maxTimeoutMs,
      maxBytes: MAX_BYTES,
      maxBytesPer: 'request' as const,
      signal: AbortSignal.any(until),
    };
    const key = `${workspaceId}/${server.id}/${server.configVersion}`;
    const isLegacy = this.#legacy.get(key) === true;
    const options = { url, headers, allowPrivateNetwork, workspaceId, ...limits, ...(outgoing ? { outgoing } : {}) };
    let connection: McpConnection;
    try {
      const onToolsChanged = () => this.lists?.changed(workspaceId, server.id);
      connection = await connectMcp({
        ...options,
        isLegacy,
        listens: true,
        onToolsChanged,
        lasts: instanceMode === 'STATIC',
      });
    } catch (error) {
      this.#legacy.delete(key);
      throw signal?.aborted ? signal.reason : asMcpFailed(error);
    }
    // Not anew for each connection: a server that was updated meanwhile still knows the older revision, and would never be asked again.
    if (connection.era === 'legacy' && !isLegacy) this.#legacy.set(key, true);
    this.#open.add(connection);
    if (!this.#stopped.signal.aborted) return connection;
    this.#shut(connection);
    throw this.#stopped.signal.reason;
  }

  #lease(server: McpServer): { shared: SharedConnection; fresh: boolean } {
    this.#stopped.signal.throwIfAborted();
    const key = `${server.workspaceId}/${server.id}`;
    const present = this.#shared.get(key);
    // Half of what an event stream may last leaves more time than a call takes.
    const tooOld = performance.now() - (present?.openedAt ?? 0) > MAX_STREAM_MS / 2;
    if (present && present.configVersion === server.configVersion && !tooOld) {
      clearTimeout(present.idle);
      present.users += 1;
      this.#shared.delete(key);
      this.#shared.set(key, present);
      return { shared: present, fresh: false };
    }
    if (present) this.#retire(present);
    const opening = this.#connect(server, 'STATIC');
    const { configVersion } = server;
    const openedAt = performance.now();
    const shared: SharedConnection = {
      key,
      configVersion,
      opening,
      openedAt,
      users: 1,
      retired: false,
      idle: undefined,
    };
    opening.then(
      ({ lost }) => lost.addEventListener('abort', () => this.#retire(shared), { once: true }),
      () => this.#retire(shared),
    );
    this.#shared.set(key, shared);
    this.#makeRoom();
    return { shared, fresh: true };
  }

  #release(shared: SharedConnection): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (shared.retired) this.#shutShared(shared);
    else shared.idle = setTimeout(() => this.#retire(shared), this.#options.idleMs).unref();
  }

  /** Stops using a connection for new calls. It is closed when its last call ends. */
  #retire(shared: SharedConnection): void {
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

  #shutShared({ opening }: SharedConnection): void {
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
