import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { guardedFetchLike, type OutgoingClient } from '../../core/outgoing.ts';
import { asMcpFailed, McpFailed, tooSlow } from './failures.ts';
import { sessionFetch, type TransportKind } from './sessionFetch.ts';

/** Where an MCP server is and how the service proves itself to it. */
export interface McpTarget {
  url: string;
  /** Headers of every request, the credential among them. */
  headers: Readonly<Record<string, string>>;
  allowPrivateNetwork: boolean;
}

/** A server to connect to, and what the connection may cost. */
export interface McpConnectOptions extends McpTarget {
  /** Milliseconds for the handshake, and for each request after it. */
  timeoutMs: number;
  /** Bytes of answers to read. */
  maxBytes: number;
  /** Whether `maxBytes` is for the whole session or begins anew with each request. */
  maxBytesPer: 'session' | 'request';
  /** Ends the handshake; its own reason is thrown. */
  signal?: AbortSignal;
  /** The guarded client; tests bring one with a resolver of their own. */
  outgoing?: Pick<OutgoingClient, 'guardedFetchLike'>;
}

/** A session with an MCP server. Close it: the server keeps it open otherwise. */
export interface McpConnection {
  readonly transport: TransportKind;
  /** What the server says about itself: its instructions, else its title; null when nothing. */
  readonly description: string | null;
  /** Whether the server says that it has tools. */
  readonly hasTools: boolean;
  /** Aborted when the session is over, with the McpFailed that ended it as reason. */
  readonly lost: AbortSignal;
  /**
   * One request of the protocol; answers with its result. `timeoutMs` is the connection's when absent. Throws the reason of
   * `signal` when that ends it, and the SDK's McpError when the server answers with an error.
   * @throws {McpFailed} the server did not answer, or not with MCP
   */
  request(
    method: string,
    params: Record<string, unknown>,
    options?: { signal?: AbortSignal | undefined; timeoutMs?: number },
  ): Promise<Record<string, unknown>>;
  /** Ends the session here and, as far as it can be reached within a second, at the server. Never throws. */
  close(): Promise<void>;
}

const CLIENT_INFO = { name: 'guildhall', version: '1.0.0' };
/** The event stream of an SSE session lives as long as the session; the pool retires sessions before. */
export const STREAM_MILLIS = 2 * 60 * 60 * 1000;
const GOODBYE_MILLIS = 1000;
/** Requests of the server that are answered at the same time. */
const MAX_ANSWERS = 4;
/** The SDK's own timer is not used: ours knows why it ends. */
const NO_TIMEOUT = { timeout: 2 ** 31 - 1 };

/** Never compiles a schema of the server: that would make program code of it. */
const NO_VALIDATION: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * Statuses by which a server that only knows the older transport may refuse the first POST. The protocol names 400, 404 and 405
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility), servers send others too;
 * these four say what is wrong, and it is not the transport.
 */
function mayBeOlder({ statusCode }: McpFailed): boolean {
  return statusCode !== null && statusCode >= 400 && statusCode < 500 && ![401, 403, 408, 429].includes(statusCode);
}

/**
 * Opens a session with an MCP server: by streamable HTTP, and where that is refused by the HTTP with SSE of older servers. All
 * requests go through the guard of core/outgoing.ts; redirects are followed within the origin of the address only.
 * @throws {McpFailed} with a public sentence
 */
export async function connectMcp(options: McpConnectOptions): Promise<McpConnection> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
  try {
    return await openSession('streamable', options, signal);
  } catch (error) {
    const refusal = explained(error, options.signal);
    if (!(refusal instanceof McpFailed && mayBeOlder(refusal))) throw refusal;
    try {
      return await openSession('sse', options, signal);
    } catch (secondError) {
      const second = explained(secondError, options.signal);
      const tellsMore = !(second instanceof McpFailed) || !(mayBeOlder(second) || isNoStream(second));
      throw tellsMore ? second : refusal;
    }
  }
}

function isNoStream({ cause }: McpFailed): boolean {
  return Object(cause).constructor?.name === 'SseError';
}

function explained(error: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted ? signal.reason : asMcpFailed(error);
}

async function openSession(
  kind: TransportKind,
  { url, headers, allowPrivateNetwork, timeoutMs, maxBytes, maxBytesPer, outgoing }: McpConnectOptions,
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
  const limits = { timeoutMs, maxBytes, allowPrivateNetwork };
  const ended = new AbortController();
  const budget = { left: maxBytes, of: maxBytesPer === 'session' ? ('session' as const) : ('stream' as const) };
  const client: Client = new Client(CLIENT_INFO, { jsonSchemaValidator: NO_VALIDATION });

  const lose = (error: unknown) => {
    if (ended.signal.aborted) return;
    ended.abort(asMcpFailed(error));
    // Closes what the transport holds besides requests: its timers for another attempt.
    void transport.close().catch(() => undefined);
  };
  const transportOptions = {
    requestInit: { headers: { ...headers } },
    fetch: sessionFetch({
      kind,
      fetch: guarded(limits),
      fetchStream: guarded({ ...limits, timeoutMs: STREAM_MILLIS, maxBytes: Number.MAX_SAFE_INTEGER }),
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
  limitAnswers(transport, lose);

  /** Waits for what the client does, and no longer than the session and `until` last. */
  async function during<T>(work: Promise<T>, until: AbortSignal): Promise<T> {
    const over = AbortSignal.any([ended.signal, until]);
    const aborted = Promise.withResolvers<never>();
    const stop = () => aborted.reject(over.reason);
    work.catch(() => undefined);
    over.addEventListener('abort', stop);
    try {
      over.throwIfAborted();
      return await Promise.race([work, aborted.promise]);
    } catch (error) {
      throw ended.signal.aborted ? ended.signal.reason : error;
    } finally {
      over.removeEventListener('abort', stop);
    }
  }

  let closing: Promise<void> | undefined;
  async function takeLeave(): Promise<void> {
    const sessionId = 'sessionId' in transport ? transport.sessionId : undefined;
    lose(new McpFailed('The connection was closed.'));
    if (sessionId === undefined) return;
    try {
      const goodbye = guarded({ timeoutMs: GOODBYE_MILLIS, maxBytes: 65_536, allowPrivateNetwork });
      const version = transport instanceof StreamableHTTPClientTransport ? transport.protocolVersion : undefined;
      const session = { 'mcp-session-id': sessionId, ...(version ? { 'mcp-protocol-version': version } : {}) };
      const answer = await goodbye(url, { method: 'DELETE', headers: { ...headers, ...session } });
      await answer.body?.cancel();
    } catch {
      // A server that is gone or does not take leave forgets the session by itself.
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
    close: () => (closing ??= takeLeave()),
  };

  try {
    // Typed more strictly than the SDK's own class is: `sessionId` of the one transport may be undefined.
    await during(client.connect(transport as Parameters<Client['connect']>[0], NO_TIMEOUT), signal);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const words = [client.getInstructions(), client.getServerVersion()?.title];
  return {
    ...connection,
    description: words.find((text) => text !== undefined && text.trim() !== '')?.trim() ?? null,
    hasTools: client.getServerCapabilities()?.tools !== undefined,
  };
}

/** Ends the session with a server that asks faster than it takes the answers: each one is a request of ours. */
function limitAnswers(
  transport: { send(message: JSONRPCMessage, options?: object): Promise<void> },
  lose: (error: unknown) => void,
): void {
  const send = transport.send.bind(transport);
  let answering = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (answering >= MAX_ANSWERS) return lose(new McpFailed('The server sends too many requests of its own.'));
    answering += 1;
    try {
      await send(message, options);
    } finally {
      answering -= 1;
    }
  };
}
