import { setTimeout as sleep } from 'node:timers/promises';
import { JsonMeter } from '../../core/jsonBounds.ts';
import { OutgoingFailed } from '../../core/outgoing.ts';
import { McpFailed, statusFailure } from './failures.ts';

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
  /** Bytes that may still be read. It limits what the guarded fetch does not: the event stream, or the whole session. */
  budget: { left: number; of: 'stream' | 'session' };
  /** Called when the session cannot continue. */
  lose(error: unknown): void;
  /** Called when one request will get no response. */
  failRequest(id: unknown, error: unknown): void;
}

const RESUME_PAUSE_MS = 500;
/** Of one message. Parsing more would take long. */
const MESSAGE_BOUNDS = { values: 50_000, depth: 50_000 };
const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Measures the messages of a body, as `JsonMeter` does. In a stream of events each event is one. Returns whether a message is too large. */
function messageMeter(isEvents: boolean): (piece: Uint8Array) => boolean {
  let meter = new JsonMeter(MESSAGE_BOUNDS);
  let last: number | undefined;
  return (piece) => {
    let from = 0;
    for (let at = 0; isEvents && at < piece.length; at += 1) {
      const byte = piece[at];
      if (byte === CARRIAGE_RETURN) continue;
      // JSON has no line ends within its texts, so that a blank line is always the end of an event.
      if (byte === LINE_END && last === LINE_END) {
        if (meter.add(piece.subarray(from, at))) return true;
        meter = new JsonMeter(MESSAGE_BOUNDS);
        from = at;
      }
      last = byte;
    }
    return meter.add(piece.subarray(from)) !== undefined;
  };
}

/** The body, with its bytes subtracted from the budget. It fails at a message that is too large. `finished` is called at its end, with the error if it failed. */
function counted(
  body: ReadableStream<Uint8Array>,
  budget: { left: number },
  isTooLarge: (piece: Uint8Array) => boolean,
  finished: (error?: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let cancelled = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (cancelled) return;
        if (done) {
          finished();
          controller.close();
          return;
        }
        budget.left -= value.length;
        if (budget.left < 0 || isTooLarge(value))
          throw new OutgoingFailed('too_large', 'The server sends more than can be read.');
        controller.enqueue(value);
      } catch (error) {
        if (cancelled) return;
        finished(error);
        controller.error(error);
        await reader.cancel().catch(() => undefined);
      }
    },
    cancel(reason) {
      cancelled = true;
      return reader.cancel(reason);
    },
  });
}

function requestId(body: unknown): unknown {
  if (typeof body !== 'string') return undefined;
  const message = JSON.parse(body) as { id?: unknown; method?: unknown };
  return message.method === undefined ? undefined : message.id;
}

/**
 * The fetch of one MCP session, for the SDK's transports. It throws what the guard throws, and a McpFailed without the server's
 * text for an error status. It adds what the transports lack: a response that breaks off fails its request, and the end of an
 * SSE session's stream ends the session.
 */
export function sessionFetch(wire: SessionWire): typeof fetch {
  const { kind, ended, budget, lose, failRequest } = wire;

  return async (input, init) => {
    const method = init?.method ?? 'GET';
    const headers = new Headers(init?.headers);
    if (kind === 'streamable' && method === 'GET') {
      // The stream for the server's own messages is not used, so it is not opened. 405 tells the SDK that there is none.
      if (!headers.has('last-event-id')) return new Response(null, { status: 405 });
      // The server decides when the SDK resumes a stream, which could be at once and without end.
      await sleep(RESUME_PAUSE_MS, undefined, { signal: ended });
    }
    const isStream = kind === 'sse' && method === 'GET';
    const signal = init?.signal ? AbortSignal.any([ended, init.signal]) : ended;
    try {
      const response = await (isStream ? wire.fetchStream : wire.fetch)(input, { ...init, signal });
      if (response.status >= 400) {
        await response.body?.cancel();
        throw statusFailure(response.status);
      }
      if (response.body === null || response.status >= 300) return response;
      const unlimited = { left: Number.POSITIVE_INFINITY };
      const limit = isStream || budget.of === 'session' ? budget : unlimited;
      const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      const body = counted(response.body, limit, messageMeter(isEvents), (error) => {
        if (isStream) lose(error ?? new McpFailed('The server closed the connection.'));
        else if (error !== undefined) failRequest(requestId(init?.body), error);
      });
      return new Response(body, { status: response.status, headers: response.headers });
    } catch (error) {
      if (isStream) lose(error);
      throw error;
    }
  };
}
