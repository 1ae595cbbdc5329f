import { setTimeout as sleep } from 'node:timers/promises';
import type { StandardSchemaV1, Transport } from '@modelcontextprotocol/client';
import { untilAborted, withDeadline } from '../../core/deadline.ts';
import { guardedFetchLike } from '../../core/outgoing.ts';
import { Allowance } from './allowance.ts';
import type { McpConnection, McpConnectOptions, McpRequestOptions } from './connect.ts';
import { asMcpFailed, brokeOff, isProtocolFault, McpFailed, notMcp, tooSlow } from './failures.ts';
import { MAX_MESSAGES } from './messageStream.ts';
import { ProgressTimeout } from './progressTimeout.ts';
import { answerQuestions } from './questions.ts';
import { passRawResults, type RawResults } from './rawResults.ts';
import { LISTEN, sessionFetch, type TransportKind } from './sessionFetch.ts';

const CLIENT_INFO = { name: 'guildhall', version: '1.0.0' };
/** Milliseconds that the event stream of an SSE session may last. The pool retires sessions before that. */
export const MAX_STREAM_MS = 2 * 60 * 60 * 1000;
/** Milliseconds for the server to take the end of a session. */
export const CLOSE_TIMEOUT_MS = 1000;
/** The share of the time that a server has to say which revision it speaks. The rest is for one that does not answer this. */
const PROBE_SHARE = 0.4;
/** Responses to requests of the server that are sent at the same time. */
const MAX_PENDING_RESPONSES = 4;
/** Responses for each request of ours: a server may ask a few things in a call. Beyond them one each second, for those that ask whether we are there. */
const MAX_RESPONSES = 20;
const RESPONSE_EVERY_MS = 1000;
/** Milliseconds that a call waits for the stream of the server's own messages. Some servers begin it with its first message only. */
const LISTENING_MS = 300;
/** Switches the SDK's own timeout off: with ours the reason is known. */
const NO_TIMEOUT = { timeout: 2 ** 31 - 1 };

/** What a server is taken to be that does not say what it is. */
const TAKEN_AS_MODERN = {
  kind: 'modern' as const,
  discover: {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {}, resources: {} },
    ttlMs: 0,
    cacheScope: 'private' as const,
  },
};

type Json = Record<string, unknown>;

/** Takes every result: what is read of it is checked where it is read. The SDK's own schemas would refuse content of kinds to come. */
const ANY_RESULT: StandardSchemaV1<unknown, Json> = {
  '~standard': { version: 1, vendor: 'guildhall', validate: (value) => ({ value: value as Json }) },
};
/** Accepts everything. The SDK's validator would compile the server's schemas to program code. */
const NO_VALIDATION = {
  getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }),
};

/** Opens a session over one transport; see `connectMcp`. Throws whatever the SDK, the transport or the guard throws. */
export async function openSession(
  kind: TransportKind,
  options: McpConnectOptions,
  signal: AbortSignal,
): Promise<McpConnection> {
  const { url, headers, allowPrivateNetwork, workspaceId, timeoutMs, maxBytes, maxBytesPer, outgoing } = options;
  const { maxTimeoutMs = timeoutMs } = options;
  // Loaded at the first call: an idle service need not have the SDK in memory.
  const { Client, StreamableHTTPClientTransport, SSEClientTransport } = await import('@modelcontextprotocol/client');
  const guarded = outgoing?.guardedFetchLike ?? guardedFetchLike;
  const caller = { allowPrivateNetwork, workspaceId };
  const limits = { timeoutMs: maxTimeoutMs, maxBytes, ...caller };
  const ended = new AbortController();
  const budget = {
    left: maxBytes,
    messages: MAX_MESSAGES,
    of: maxBytesPer === 'session' ? ('session' as const) : ('stream' as const),
  };
  const client = new Client(CLIENT_INFO, {
    jsonSchemaValidator: NO_VALIDATION,
    // A server with the older transport knows no other era.
    versionNegotiation: {
      mode: kind === 'sse' || options.isLegacy ? 'legacy' : 'auto',
      probe: { timeoutMs: timeoutMs * PROBE_SHARE },
    },
    inputRequired: { autoFulfill: false },
  });

  const lose = (error: unknown) => {
    if (ended.signal.aborted) return;
    ended.abort(asMcpFailed(error));
    // Also stops the transport's timers for reconnecting.
    void transport.close().catch(() => undefined);
  };
  const failRequest = (id: unknown, error: unknown) => {
    if (typeof id !== 'number' && typeof id !== 'string') return;
    const failure = { code: -32000, message: '', data: { failure: asMcpFailed(error) } };
    transport.onmessage?.({ jsonrpc: '2.0', id, error: failure });
  };
  const answered = new Set<unknown>();
  const listening = Promise.withResolvers<void>();
  const transportOptions = {
    // A server may ask for weeks. The SDK's own timer would hold the session for as long, even when it is closed.
    reconnectionScheduler(reconnect: () => void, delayMs: number) {
      const ofThis = new AbortController();
      const wait = Math.min(delayMs, maxTimeoutMs);
      sleep(wait, undefined, { signal: AbortSignal.any([ended.signal, ofThis.signal]), ref: false }).then(
        reconnect,
        () => undefined,
      );
      return () => ofThis.abort();
    },
    requestInit: { headers: { ...headers } },
    fetch: sessionFetch({
      kind,
      fetch: guarded(limits),
      fetchStream: guarded({ ...limits, timeoutMs: MAX_STREAM_MS, maxBytes: Number.MAX_SAFE_INTEGER }),
      ended: ended.signal,
      budget,
      lose,
      answered: (id) => void answered.add(id),
      failRequest,
      hasCredential: Object.keys(headers).length > 0,
      listening: options.listens ? listening.resolve : undefined,
    }),
  };
  const transport =
    kind === 'streamable'
      ? new StreamableHTTPClientTransport(new URL(url), transportOptions)
      : new SSEClientTransport(new URL(url), transportOptions);
  let raw: RawResults | undefined;
  const sending = watchSending(transport, lose, failRequest, {
    sent: (id, method) => raw?.sent(id, method),
    isAnswered: (id) => answered.delete(id),
  });
  let running = 0;
  const questions = answerQuestions(client);
  if (options.onToolsChanged) {
    client.setNotificationHandler('notifications/tools/list_changed', options.onToolsChanged);
  }

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

  async function request(method: string, params: Json, asked: McpRequestOptions = {}): Promise<Json> {
    const { signal: stopped, timeoutMs: own = timeoutMs } = asked;
    stopped?.throwIfAborted();
    if (maxBytesPer === 'request') Object.assign(budget, { left: maxBytes, messages: MAX_MESSAGES });
    const tooLong = new ProgressTimeout(own, Math.max(own, maxTimeoutMs));
    const until = stopped ? AbortSignal.any([tooLong.signal, stopped]) : tooLong.signal;
    const forget = questions.listen(asked.onRefusal);
    running += 1;
    sending.allowed.add(MAX_RESPONSES, running * MAX_RESPONSES);
    try {
      const sent = sending.with(until, () =>
        client.request({ method, params }, ANY_RESULT, {
          ...NO_TIMEOUT,
          signal: until,
          allowInputRequired: true,
          onprogress: () => {
            tooLong.extend();
            asked.onProgress?.();
          },
          ...(asked.headers ? { headers: asked.headers } : {}),
        }),
      );
      const result = await during(sent, until);
      return raw ? raw.of(result) : result;
    } catch (error) {
      if (ended.signal.aborted) throw asMcpFailed(ended.signal.reason);
      if (stopped?.aborted) throw stopped.reason;
      if (tooLong.signal.aborted) throw tooSlow(error);
      throw isProtocolFault(error) ? error : asMcpFailed(error);
    } finally {
      running -= 1;
      tooLong.stop();
      forget();
    }
  }

  const connection = { transport: kind, lost: ended.signal, request, close: () => (closing ??= endSession()) };
  try {
    // The SDK's parameter type is stricter than its own class, whose `sessionId` may be undefined.
    const prior = options.isTakenAsModern ? { prior: TAKEN_AS_MODERN } : {};
    await during(client.connect(transport as Transport, { ...NO_TIMEOUT, ...prior, signal }), signal);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const era = client.getProtocolEra() ?? 'legacy';
  if (era === 'modern') raw = passRawResults(transport);
  // What a server asks before the stream is open, some servers lose, and then wait for an answer.
  if (options.listens && kind === 'streamable' && era === 'legacy') {
    await withDeadline(listening.promise, LISTENING_MS, tooSlow).catch(() => undefined);
  }
  const texts = [client.getInstructions(), client.getServerVersion()?.title];
  const capabilities = client.getServerCapabilities();
  if (era === 'modern' && options.lasts && options.onToolsChanged && capabilities?.tools?.listChanged) {
    // Without the stream, the list is read again when its time is over.
    client.listen({ toolsListChanged: true }).catch(() => undefined);
  }
  return {
    ...connection,
    era,
    description: texts.find((text) => text !== undefined && text.trim() !== '')?.trim() ?? null,
    hasTools: capabilities?.tools !== undefined,
    hasResources: capabilities?.resources !== undefined,
  };
}

/**
 * Watches what a transport sends. A request that is sent within `with` ends its HTTP request when its signal is aborted, and fails when the
 * server ends the stream without an answer. The session ends when the server sends too many requests, or faster than it reads the responses,
 * of which each is an HTTP request of this service.
 */
function watchSending(
  transport: Pick<Transport, 'send'>,
  lose: (error: unknown) => void,
  failRequest: (id: unknown, error: unknown) => void,
  requests: { sent(id: unknown, method: string): void; isAnswered(id: unknown): boolean },
): { with<T>(signal: AbortSignal, send: () => T): T; allowed: Allowance } {
  const send = transport.send.bind(transport);
  let current: AbortSignal | undefined;
  let pending = 0;
  const allowed = new Allowance(MAX_RESPONSES, RESPONSE_EVERY_MS);
  transport.send = async (message, options) => {
    if ('method' in message) {
      if (!('id' in message)) return send(message, options);
      requests.sent(message.id, message.method);
      // The SDK waits for the end of this stream by itself.
      if (message.method === LISTEN) return send(message, options);
      const signals = [options?.requestSignal, current].filter((signal) => signal !== undefined);
      const requestSignal = signals.length > 0 ? { requestSignal: AbortSignal.any(signals) } : {};
      const onRequestStreamEnd = () => failRequest(message.id, brokeOff());
      let isAnswered = false;
      await send(message, { ...options, ...requestSignal, onRequestStreamEnd }).finally(() => {
        isAnswered = requests.isAnswered(message.id);
      });
      // The SDK has given out what the body had. Of a request that has its answer, it knows nothing any more.
      if (isAnswered) failRequest(message.id, notMcp(': it does not answer the request'));
      return;
    }
    if (pending >= MAX_PENDING_RESPONSES || !allowed.take()) {
      return lose(new McpFailed('The server sends too many requests of its own.'));
    }
    pending += 1;
    try {
      await send(message, options);
    } finally {
      pending -= 1;
    }
  };
  return {
    allowed,
    with(signal, work) {
      current = signal;
      try {
        // The SDK calls `send` before it returns.
        return work();
      } finally {
        current = undefined;
      }
    },
  };
}
