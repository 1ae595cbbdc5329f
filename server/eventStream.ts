import type { Response } from 'express';

/** A comment line this often keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;

/** Begins a `text/event-stream` answer; each event leaves at once. */
export function openEventStream(
  response: Response,
  heartbeatMs = HEARTBEAT_MS,
): { send(event: string, data: unknown): void; end(): void } {
  response.status(200);
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const heartbeat = setInterval(() => write(':\n\n'), heartbeatMs);
  heartbeat.unref();
  response.once('close', () => clearInterval(heartbeat));

  function write(text: string): void {
    if (!response.writableEnded && !response.destroyed) response.write(text);
  }
  return {
    send: (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end: () => {
      clearInterval(heartbeat);
      if (!response.writableEnded) response.end();
    },
  };
}
