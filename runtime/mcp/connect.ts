import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { untilAborted } from '../../core/deadline.ts';
import { guardedFetchLike, type OutgoingCaller, type OutgoingClient } from '../../core/outgoing.ts';
import { asMcpFailed, McpFailed, tooSlow } from './failures.ts';
import { sessionFetch, type TransportKind } from './sessionFetch.ts';

/** The address of an MCP server and the headers that authenticate the service. */
export interface McpTarget extends OutgoingCaller {
  url: string;
  /** Headers of every request, the credential among them. */
  headers: Readonly<Record<string, string>>;
}

/** A server to connect to, and the limits of the connection. */
export interface McpConnectOptions extends McpTarget {
  /** Milliseconds for the handshake, and for each request after it. */
  timeoutMs: number;
  /** Bytes of responses to read at most. */
  maxBytes: number;
  /** Whether `maxBytes` limits the whole session or each request. */
  maxBytesPer: 'session' | 'request';
  /** Ends the handshake; its own reason is thrown. */
  signal?: AbortSignal;
  /** The guarded client; tests pass one with their own resolver. */
  outgoing?: Pick<OutgoingClient, 'guardedFetchLike'>;
}

/** A session with an MCP server. Close it, or the server keeps it open. */
export interface McpConnection {
  readonly transport: TransportKind;
  /** The server's own description: its instructions, else its title; null when it has neither. */
  readonly description: string | null;
  /** Whether the server declares tools. */
  readonly hasTools: boolean;
  /** Aborted when the session is over, with the McpFailed that ended it as reason. */
  readonly lost: AbortSignal;
  /**
   * Sends one request of the protocol and returns its result. Without `timeoutMs` the connection's is used. Throws the reason of
   * `signal` when that ends the request, and the SDK's McpError when the server returns an error.
   * @throws {McpFailed} the server did not respond, or not with MCP
   */
  request(
    method: string,
    params: Record<string, unknown>,
    options?: { signal?: AbortSignal | undefined; timeoutMs?: number },
  ): Promise<Record<string, unknown>>;
  /** Ends the session here, and at the server if it responds within a second. Never throws. */
  close(): Promise<void>;
}

const CLIENT_INFO = { name: 'guildhall', version: '1.0.0' };
/** Milliseconds that the event stream of an SSE session may last. The pool retires sessions before that. */
export const MAX_STREAM_MS = 2 * 60 * 60 * 1000;
const CLOSE_TIMEOUT_MS = 1000;
/** Responses to requests of the server that are sent at the same time. */
const MAX_PENDING_RESPONSES = 4;
/** Switches the SDK's own timeout off: with ours the reason is known. */
const NO_TIMEOUT = { timeout: 2 ** 31 - 1 };

/** Accepts everything. The SDK's validator would compile the server's schemas to program code. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * Whether the first POST failed in a way that a server which only knows the older transport may fail. The protocol names the
 * statuses 400, 404 and 405 (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility),
 * and servers send others too. The four exceptions here have nothing to do with the transport.
 */
function mayBeOlderTransport({ statusCode }: McpFailed): boolean {
  return statusCode !== null && statusCode >= 400 && statusCode < 500 && ![401, 403, 408, 429].includes(statusCode);
}

/**
 * Opens a session with an MCP server: over streamable HTTP, or over the older HTTP with SSE when the server refuses that. All
 * requests go through the guard of core/outgoing.ts, and redirects are followed only within the origin of the address.
 * @throws {McpFailed} with a message for the user
 */
export async function connectMcp(options: McpConnectOptions): Promise<McpConnection> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
  try {
    return await openSession('streamable', options, signal);
  } catch (error) {
    const first = failureOf(error, options.signal);
    if (!(first instanceof McpFailed && mayBeOlderTransport(first))) throw first;
    try {
      return await openSession('sse', options, signal);
    } catch (secondError) {
      const second = failureOf(secondError, options.signal);
      const saysMore = !(second instanceof McpFailed) || !(mayBeOlderTransport(second) || isNoStream(second));
      throw saysMore ? second : first;
    }
  }
}

function isNoStream({ cause }: McpFailed): boolean {
  return Object(cause).constructor?.name === 'SseError';
}

function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted ? signal.reason : asMcpFailed(error);
}

async function openSession(
  kind: TransportKind,
  { url, headers, allowPrivateNetwork, workspaceId, timeoutMs, maxBytes, maxBytesPer, outgoing }: McpConnectOptions,
  signal: AbortSignal,
): Promise<McpConnection> {
  // Loaded at the first call: an idle service need not have the SDK in memory.
  const [{ Client }, { StreamableHTTPClientTransport }, { SSEClientTransport }, { ResultSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/client/sse.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const guarded = outgoing?.guardedFetchLike ?? guardedFetchLike;
  const caller = { allowPrivateNetwork, workspaceId };
  const limits = { timeoutMs, maxBytes, ...caller };
  const ended = new AbortController();
  const budget = { left: maxBytes, of: maxBytesPer === 'session' ? ('session' as const) : ('stream' as const) };
  const client: Client = new Client(CLIENT_INFO, { jsonSchemaValidator: NO_VALIDATION });

  const lose = (error: unknown) => {
    if (ended.signal.aborted) return;
    ended.abort(asMcpFailed(error));
    // Also stops the transport's timers for reconnecting.
    void transport.close().catch(() => undefined);
  };
  const transportOptions = {
    requestInit: { headers: { ...headers } },
    fetch: sessionFetch({
      kind,
      fetch: guarded(limits),
      fetchStream: guarded({ ...limits, timeoutMs: MAX_STREAM_MS, maxBytes: Number.MAX_SAFE_INTEGER }),
      ended: ended.signal,
      budget,
      lose,
      failRequest: (id, error) => {
        if (typeof id !== 'number') return;
        const failure = { code: -32000, message: '', data: { failure: asMcpFailed(error) } };
        transport.onmessage?.({ jsonrpc: '2.0', id, error: failure });
      },
    }),
  };
  const transport =
    kind === 'streamable'
      ? new StreamableHTTPClientTransport(new URL(url), transportOptions)
      : new SSEClientTransport(new URL(url), transportOptions);
  limitResponses(transport, lose);

  /** Waits for `work`, but no longer than the session lasts and until `until` is aborted. */
  async function during<T>(work: Promise<T>, until: AbortSignal): Promise<T> {
    const over = AbortSignal.any([ended.signal, until]);
    try {
      return await untilAborted(work, over);
    } catch (error) {
      throw ended.signal.aborted ? ended.signal.reason : error;
    }
  }

  let closing: Promise<void> | undefined;
  async function endSession(): Promise<void> {
    const sessionId = 'sessionId' in transport ? transport.sessionId : undefined;
    lose(new McpFailed('The connection was closed.'));
    if (sessionId === undefined) return;
    try {
      const send = guarded({ timeoutMs: CLOSE_TIMEOUT_MS, maxBytes: 65_536, ...caller });
      const version = transport instanceof StreamableHTTPClientTransport ? transport.protocolVersion : undefined;
      const session = { 'mcp-session-id': sessionId, ...(version ? { 'mcp-protocol-version': version } : {}) };
      const response = await send(url, {
        method: 'DELETE',
        headers: { ...headers, ...session },
        redirect: 'manual',
      });
      await response.body?.cancel();
    } catch {
      // A server that does not respond to this drops the session after a while.
    }
  }

  const connection: Omit<McpConnection, 'description' | 'hasTools'> = {
    transport: kind,
    lost: ended.signal,
    async request(method, params, { signal: stopped, timeoutMs: own = timeoutMs } = {}) {
      stopped?.throwIfAborted();
      if (maxBytesPer === 'request') budget.left = maxBytes;
      const tooLong = AbortSignal.timeout(own);
      const until = stopped ? AbortSignal.any([tooLong, stopped]) : tooLong;
      try {
        const sent = client.request({ method, params }, ResultSchema, { ...NO_TIMEOUT, signal: until });
        return await during(sent, until);
      } catch (error) {
        if (ended.signal.aborted) throw asMcpFailed(ended.signal.reason);
        if (stopped?.aborted) throw stopped.reason;
        if (tooLong.aborted) throw tooSlow(error);
        const failed = asMcpFailed(error);
        throw Object(error).name === 'McpError' && failed.cause === error ? error : failed;
      }
    },
    close: () => (closing ??= endSession()),
  };

  try {
    // The SDK's parameter type is stricter than its own class, whose `sessionId` may be undefined.
    await during(client.connect(transport as Parameters<Client['connect']>[0], NO_TIMEOUT), signal);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const texts = [client.getInstructions(), client.getServerVersion()?.title];
  return {
    ...connection,
    description: texts.find((text) => text !== undefined && text.trim() !== '')?.trim() ?? null,
    hasTools: client.getServerCapabilities()?.tools !== undefined,
  };
}

/**
 * Ends the session when the server sends requests faster than it reads the responses. Each response is an HTTP request of this
 * service.
 */
function limitResponses(
  transport: { send(message: JSONRPCMessage, options?: object): Promise<void> },
  lose: (error: unknown) => void,
): void {
  const send = transport.send.bind(transport);
  let pending = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (pending >= MAX_PENDING_RESPONSES) return lose(new McpFailed('The server sends too many requests of its own.'));
    pending += 1;
    try {
      await send(message, options);
    } finally {
      pending -= 1;
    }
  };
}
