import { setTimeout as sleep } from 'node:timers/promises';
import { Allowance } from './allowance.ts';
import { brokeOff, McpWantsOAuth, statusFailure } from './failures.ts';
import { boundedBody, MAX_MESSAGES, type MessageBudget } from './messageStream.ts';
import { asksForOAuth } from './oauth.ts';

/** The two transports of MCP over HTTP: streamable HTTP, and the HTTP with SSE of protocol version 2024-11-05. */
export type TransportKind = 'streamable' | 'sse';

/** What the requests of one session share. */
export interface SessionWire {
  kind: TransportKind;
  /** The guarded fetch for requests with a response. */
  fetch: typeof fetch;
  /** The guarded fetch for the event stream that lives as long as the session. */
  fetchStream: typeof fetch;
  /** Aborted when the session is over: every request ends. */
  ended: AbortSignal;
  /** What may still be read. It limits what the guarded fetch does not: the event stream, streams that are resumed, or the whole session. */
  budget: MessageBudget & { of: 'stream' | 'session' };
  /** Called when the session cannot continue. */
  lose(error: unknown): void;
  /** Called when the body of the answer to a request has ended that is no event stream: nothing else will come. */
  answered(id: unknown): void;
  /** Called when one request will get no response. */
  failRequest(id: unknown, error: unknown): void;
  /** Whether the requests carry a credential. */
  hasCredential: boolean;
  /** Called when the stream for the server's own messages is open, or will not be. Absent: it is not opened. */
  listening?: (() => void) | undefined;
}

/** The request whose answer is a stream of changes, in a revision without sessions. */
export const LISTEN = 'subscriptions/listen';
const RESUME_PAUSE_MS = 500;
const MAX_ERROR_BYTES = 65_536;
/** How often a session opens or resumes the stream for the server's own messages, which a server may close at once; then once a minute. */
const MAX_LISTENING = 5;
const LISTENING_EVERY_MS = 60_000;
/** Of what a server says on that stream. */
const MAX_LISTENED_BYTES = 1024 * 1024;

/** A request of ours, as it is sent. */
interface SentRequest {
  id: unknown;
  /** It is of a revision without sessions. */
  isModern: boolean;
  /** It is the first request to a server of which nothing is known. */
  isProbe: boolean;
  /** Its answer goes on as long as the connection. */
  listens: boolean;
}

function requestIn(body: unknown): SentRequest {
  if (typeof body !== 'string') return { id: undefined, isModern: false, isProbe: false, listens: false };
  const { id, method, params } = JSON.parse(body) as Record<string, unknown>;
  const meta = Object(Object(params)._meta) as Record<string, unknown>;
  const isModern = meta['io.modelcontextprotocol/protocolVersion'] !== undefined;
  return {
    id: method === undefined ? undefined : id,
    isModern,
    isProbe: method === 'server/discover',
    listens: method === LISTEN,
  };
}

/**
 * A refusal that the SDK must see: it says which revision the server speaks, or is a JSON-RPC error. Undefined where the status says
 * enough. At most 64 KiB of text are read.
 */
async function shownRefusal(response: Response, { isModern, isProbe }: SentRequest): Promise<Response | undefined> {
  const { status, headers, body } = response;
  if (!isModern || [401, 403, 408, 429].includes(status)) return undefined;
  // Some servers fail on a method that they do not know. They may know `initialize`.
  if (status >= 500 && isProbe) {
    await body?.cancel();
    return new Response('', { status: 400 });
  }
  if (status >= 500) return undefined;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > MAX_ERROR_BYTES) return new Response('', { status });
    pieces.push(piece);
  }
  // A method that the server lacks is a 404 with a JSON-RPC error (basic/transports/streamable-http, protocol version header). The SDK reads
  // errors in bodies of 400 only. To the first question both mean the same.
  const text = Buffer.concat(pieces);
  return new Response(text, { status: status === 404 && !isProbe && isRpcError(text) ? 400 : status, headers });
}

function isRpcError(text: Buffer): boolean {
  try {
    const { jsonrpc, error } = Object(JSON.parse(text.toString())) as Record<string, unknown>;
    return jsonrpc === '2.0' && typeof error === 'object';
  } catch {
    return false;
  }
}

async function refusal(response: Response, hasCredential: boolean): Promise<Error> {
  const { status, headers } = response;
  await response.body?.cancel();
  return asksForOAuth(status, headers)
    ? new McpWantsOAuth(status, hasCredential)
    : statusFailure(status, undefined, hasCredential);
}

/**
 * The fetch of one MCP session, for the SDK's transports. It throws what the guard throws, and a McpFailed without the server's
 * text for an error status, unless the SDK must see the text. It adds what the transports lack: a response that breaks off fails its
 * request, and the end of an SSE session's stream ends the session.
 */
export function sessionFetch(wire: SessionWire): typeof fetch {
  const { kind, ended, budget, lose, answered, failRequest, hasCredential, listening } = wire;
  let streamEndedAt = 0;
  let listeningUntil: AbortSignal | undefined;
  const openings = new Allowance(MAX_LISTENING, LISTENING_EVERY_MS);
  const listenedBudget = { left: MAX_LISTENED_BYTES, messages: MAX_MESSAGES };

  return async (input, init) => {
    const method = init?.method ?? 'GET';
    const headers = new Headers(init?.headers);
    const resumes = headers.has('last-event-id');
    // The SDK gives the streams of requests signals of their own, and this stream that of the session.
    const isGet = kind === 'streamable' && method === 'GET';
    const isAgain = isGet && listeningUntil !== undefined && init?.signal === listeningUntil;
    const isOwn = isGet && (!resumes || isAgain);
    if (isOwn) {
      // 405 tells the SDK that there is no such stream.
      if (!listening || !openings.take()) return new Response(null, { status: 405 });
      listeningUntil = init?.signal ?? undefined;
    }
    if (isAgain || resumes) {
      // The server decides when the SDK resumes a stream, which could be at once and without end.
      const pause = streamEndedAt + RESUME_PAUSE_MS - performance.now();
      if (pause > 0) await sleep(pause, undefined, { signal: ended });
    }
    const isStream = kind === 'sse' && method === 'GET';
    const request = requestIn(init?.body);
    const listens = request.listens || isOwn;
    const signal = init?.signal ? AbortSignal.any([ended, init.signal]) : ended;
    try {
      const response = await (isStream || listens ? wire.fetchStream : wire.fetch)(input, { ...init, signal });
      if (response.status >= 400) {
        const shown = await shownRefusal(response, request);
        if (shown === undefined) throw await refusal(response, hasCredential);
        return shown;
      }
      if (response.body === null || response.status >= 300) return response;
      const ofAnswer = { left: Number.POSITIVE_INFINITY, messages: MAX_MESSAGES };
      const isShared = isStream || resumes || budget.of === 'session';
      const limit = listens ? listenedBudget : isShared ? budget : ofAnswer;
      const isEvents = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
      const body = boundedBody(response.body, isEvents, limit, (error) => {
        streamEndedAt = performance.now();
        if (isStream) lose(error ?? brokeOff());
        // The SDK would resume it again and again, and no request would know.
        else if (error !== undefined && resumes && !isOwn && Math.min(limit.left, limit.messages) < 0) lose(error);
        else if (error !== undefined) failRequest(request.id, error);
        else if (!isEvents && kind === 'streamable') answered(request.id);
      });
      return new Response(body, { status: response.status, headers: response.headers });
    } catch (error) {
      if (isStream) lose(error);
      throw error;
    } finally {
      if (listens) listening?.();
    }
  };
}
