import {
  guardedFetchLike,
  type OutgoingCaller,
  type OutgoingClient,
  OutgoingFailed,
  OutgoingRefused,
} from '../../core/outgoing.ts';
import {
  asMcpFailed,
  isProtocolFault,
  McpFailed,
  McpWantsOAuth,
  METHOD_NOT_FOUND,
  UNSUPPORTED_VERSION,
} from './failures.ts';
import { isResourceMetadata, metadataUrls } from './oauth.ts';
import { openSession } from './session.ts';
import type { TransportKind } from './sessionFetch.ts';

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
  /** Milliseconds for a request whose server goes on reporting progress; `timeoutMs` when absent. */
  maxTimeoutMs?: number;
  /** Bytes of responses to read at most. */
  maxBytes: number;
  /** Whether `maxBytes` limits the whole session or each request. */
  maxBytesPer: 'session' | 'request';
  /** The server is known to speak a revision with sessions, so that it is not asked first. */
  isLegacy?: boolean;
  /** The server is taken to speak 2026-07-28 with tools and resources, so that it is not asked at all. */
  isTakenAsModern?: boolean;
  /** Opens the stream of the server's own messages, where a server may ask for input in the middle of a call. Sessions only. */
  listens?: boolean;
  /** Ends the handshake; its own reason is thrown. */
  signal?: AbortSignal;
  /** The guarded client; tests pass one with their own resolver. */
  outgoing?: Pick<OutgoingClient, 'guardedFetchLike'>;
  /** Called when the server says that the list of its tools changed. */
  onToolsChanged?: (() => void) | undefined;
  /** The connection stays open between calls: a server without sessions is asked to say when the list of its tools changes. */
  lasts?: boolean;
}

/** Limits and observers of one request. */
export interface McpRequestOptions {
  /** Ends the request; its own reason is thrown. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  /** HTTP headers of this request. */
  headers?: Record<string, string>;
  /** Called with what the server asked a person or a model for while the request ran, and was refused. */
  onRefusal?: (asked: string) => void;
  /** Called at each report of progress. */
  onProgress?: () => void;
}

/** A session with an MCP server; of a revision without sessions, what was agreed with it. Close it, or the server keeps it open. */
export interface McpConnection {
  readonly transport: TransportKind;
  /** `modern` is 2026-07-28 and later, without sessions. */
  readonly era: 'modern' | 'legacy';
  /** The server's own description: its instructions, else its title; null when it has neither. */
  readonly description: string | null;
  /** Whether the server declares tools. */
  readonly hasTools: boolean;
  /** Whether the server declares resources. */
  readonly hasResources: boolean;
  /** Aborted when the session is over, with the McpFailed that ended it as reason. */
  readonly lost: AbortSignal;
  /**
   * Sends one request of the protocol and returns its result. Without `timeoutMs` the connection's is used; each report of progress
   * begins it anew, up to `maxTimeoutMs` of the connection. Throws the reason of `signal` when that ends the request, and the SDK's
   * ProtocolError when the server returns an error.
   * @throws {McpFailed} the server did not respond, or not with MCP
   */
  request(
    method: string,
    params: Record<string, unknown>,
    options?: McpRequestOptions,
  ): Promise<Record<string, unknown>>;
  /** Ends the session here, and at the server if it responds within a second. Never throws. */
  close(): Promise<void>;
}

/** What a server may take to publish whether it wants OAuth. */
const METADATA_LIMITS = { timeoutMs: 2_000, maxBytes: 65_536 };

/**
 * Whether the first POST failed in a way that a server which only knows the older transport may fail. The protocol names the
 * statuses 400, 404 and 405 (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility),
 * and servers send others too. The four exceptions here have nothing to do with the transport.
 */
function mayBeOlderTransport({ statusCode }: McpFailed): boolean {
  return statusCode !== null && statusCode >= 400 && statusCode < 500 && ![401, 403, 408, 429].includes(statusCode);
}

/**
 * Opens a session with an MCP server: without sessions when the server offers revision 2026-07-28, else by `initialize` over streamable
 * HTTP, or over the older HTTP with SSE when the server refuses that; at last without asking, as a server of 2026-07-28. All requests go
 * through the guard of core/outgoing.ts, and redirects are followed only within the origin of the address.
 * @throws {McpFailed} with a message for the user
 */
export async function connectMcp(options: McpConnectOptions): Promise<McpConnection> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
  try {
    return await openNewest(options, signal);
  } catch (error) {
    const first = failureOf(error, options.signal);
    if (!(first instanceof McpFailed)) throw first;
    if (first.statusCode === 401) throw await explained(first, options, signal);
    if (mayBeOlderTransport(first)) {
      try {
        return await openSession('sse', options, signal);
      } catch (secondError) {
        const second = failureOf(secondError, options.signal);
        const saysMore = !(second instanceof McpFailed) || !(mayBeOlderTransport(second) || isNoStream(second));
        if (saysMore) throw second;
      }
    } else if (!isUnknownMethod(error)) throw first;
    if (signal.aborted) throw first;
    // It may have been updated since it was asked.
    if (options.isLegacy) return connectMcp({ ...options, isLegacy: false });
    return (await openUnasked(options, signal)) ?? Promise.reject(first);
  }
}

/** Whether a server refused `initialize` as a method that it does not have. */
function isUnknownMethod(error: unknown): boolean {
  return isProtocolFault(error) && (error.code === METHOD_NOT_FOUND || error.code === UNSUPPORTED_VERSION);
}

/**
 * A server that lacks both `server/discover`, which it must have, and `initialize`, is asked for its tools as one of 2026-07-28: "a client is free
 * to invoke any RPC inline" (https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle#protocol-version-negotiation).
 * Undefined when it does not answer that either.
 */
async function openUnasked(options: McpConnectOptions, signal: AbortSignal): Promise<McpConnection | undefined> {
  let connection: McpConnection | undefined;
  try {
    connection = await openSession('streamable', { ...options, isTakenAsModern: true }, signal);
    const { tools } = await connection.request('tools/list', {}, { signal });
    if (Array.isArray(tools)) return connection;
  } catch {
    // What the server said to the usual questions tells more.
  }
  await connection?.close();
  if (options.signal?.aborted) throw options.signal.reason;
  return undefined;
}

/** Over streamable HTTP. A server that does not understand the first question, or stays silent, may still know `initialize`. */
async function openNewest(options: McpConnectOptions, signal: AbortSignal): Promise<McpConnection> {
  try {
    return await openSession('streamable', options, signal);
  } catch (error) {
    if (options.isLegacy || signal.aborted || !isUndecided(error)) throw error;
    return openSession('streamable', { ...options, isLegacy: true }, signal);
  }
}

/** Whether the SDK could not tell the revision from an answer, or got none in its time. A failure of the network is neither. */
function isUndecided(error: unknown): boolean {
  const { code, cause } = Object(error) as Record<string, unknown>;
  const isOurs = cause instanceof McpFailed || cause instanceof OutgoingFailed || cause instanceof OutgoingRefused;
  return code === 'REQUEST_TIMEOUT' || (code === 'ERA_NEGOTIATION_FAILED' && !isOurs);
}

/** A refusal without a challenge is explained by what the server publishes: whether OAuth protects it. */
async function explained(refused: McpFailed, options: McpConnectOptions, signal: AbortSignal): Promise<McpFailed> {
  if (refused instanceof McpWantsOAuth) return refused;
  const { url, allowPrivateNetwork, workspaceId, outgoing, headers } = options;
  const send = (outgoing?.guardedFetchLike ?? guardedFetchLike)({
    ...METADATA_LIMITS,
    allowPrivateNetwork,
    workspaceId,
  });
  for (const address of metadataUrls(url)) {
    try {
      const response = await send(address, { redirect: 'manual', signal, headers: { Accept: 'application/json' } });
      if (response.ok && isResourceMetadata(await response.text())) {
        return new McpWantsOAuth(401, Object.keys(headers).length > 0);
      }
      await response.body?.cancel();
    } catch {
      return refused;
    }
  }
  return refused;
}

function isNoStream({ cause }: McpFailed): boolean {
  return Object(cause).constructor?.name === 'SseError';
}

function failureOf(error: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted ? signal.reason : asMcpFailed(error);
}
