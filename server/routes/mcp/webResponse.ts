import type { ServerResponse } from 'node:http';

/** A client that reads nothing of a stream for so long is cut off. */
const UNREAD_MS = 15_000;
/** Set by the service for all its answers. */
const OWN_HEADERS = new Set(['connection', 'cache-control', 'content-length', 'transfer-encoding']);

export interface WebResponseOptions {
  /** Whether what makes the answer was stopped: a stream that ends then is not whole, and its connection breaks off instead of ending well. */
  isStopped?: () => boolean;
  /** For tests. */
  unreadMs?: number;
}

/**
 * Sends a Response of the web's interface. A stream is sent as it comes, and no faster than it is read: who reads nothing of it for 15
 * seconds loses the connection. Settles when everything is handed over, or the connection is gone; rejects with an error of the stream.
 */
export async function sendWebResponse(
  response: ServerResponse,
  web: Response,
  { isStopped = () => false, unreadMs = UNREAD_MS }: WebResponseOptions = {},
): Promise<void> {
  if (response.destroyed) {
    await web.body?.cancel().catch(() => {});
    return;
  }
  response.statusCode = web.status;
  for (const [name, value] of web.headers) if (!OWN_HEADERS.has(name)) response.setHeader(name, value);
  const isStream = web.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!web.body || !isStream) {
    const body = Buffer.from(await web.arrayBuffer());
    if (web.body) response.setHeader('Content-Length', body.length);
    response.end(body.length > 0 ? body : undefined);
    return;
  }
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  const closed = new Promise<false>((resolve) => response.once('close', () => resolve(false)));
  const reader = web.body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (response.destroyed) return;
      if (response.write(read.value)) continue;
      const timer = setTimeout(() => response.destroy(), unreadMs);
      const isRead = await Promise.race([
        new Promise<true>((resolve) => response.once('drain', () => resolve(true))),
        closed,
      ]);
      clearTimeout(timer);
      if (!isRead) return;
    }
    if (isStopped()) {
      response.destroy();
      return;
    }
    response.end();
    const timer = setTimeout(() => response.destroy(), unreadMs).unref();
    response.once('close', () => clearTimeout(timer));
  } finally {
    // The work behind it ends, too.
    reader.cancel().catch(() => {});
  }
}
