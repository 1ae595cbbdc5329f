import type { Response } from 'express';

/** A comment line this often keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;
/** Bytes that wait for a slow reader; beyond them the connection is dropped. */
const MAX_WAITING_BYTES = 1_048_576;
/** Time in which a client must read the rest of a stream that has ended. */
const DRAIN_MS = 60_000;

/** Settings for tests, in milliseconds. */
export interface EventStreamOptions {
  heartbeatMs?: number;
  drainMs?: number;
}

/**
 * Begins a `text/event-stream` answer; each event leaves at once. Who reads so slowly that more than 1 MiB waits is cut off, and so is
 * who has not read the rest a minute after the end: a stream costs no more memory than that and one event. Whoever sends is not
 * held up, and need not know.
 */
export function openEventStream(
  response: Response,
  { heartbeatMs = HEARTBEAT_MS, drainMs = DRAIN_MS }: EventStreamOptions = {},
): { send(event: string, data: unknown, id?: string): void; end(): void } {
  response.status(200);
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const heartbeat = setInterval(() => write(':\n\n'), heartbeatMs);
  heartbeat.unref();
  let draining: NodeJS.Timeout | undefined;
  response.once('close', () => {
    clearInterval(heartbeat);
    clearTimeout(draining);
  });

  function write(text: string): void {
    if (response.writableEnded || response.destroyed) return;
    // Looked at before: one large event is no sign of a slow reader.
    if (response.writableLength > MAX_WAITING_BYTES) response.destroy();
    else response.write(text);
  }
  return {
    send: (event, data, id) =>
      write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end: () => {
      clearInterval(heartbeat);
      if (response.writableEnded || response.destroyed) return;
      response.end();
      draining = setTimeout(() => response.destroy(), drainMs).unref();
    },
  };
}
