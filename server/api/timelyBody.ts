import type { IncomingMessage, ServerResponse } from 'node:http';
import { fault } from '../../core/errors.ts';
import { readAll } from './body.ts';

/** Bounds of a body. */
export interface BodyBounds {
  /** Bytes. */
  limit: number;
  /** Milliseconds in which it must arrive. */
  ms: number;
}

/** Reads a body to memory. Throws REQUEST_TIMEOUT when it takes too long, UNSUPPORTED_MEDIA_TYPE when it is packed, and what `readAll` throws. */
export async function readTimelyBody(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, ms }: BodyBounds,
): Promise<Buffer> {
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw fault('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.');
  }
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    // What still comes of the body belongs to no request.
    response.setHeader('Connection', 'close');
    late.reject(fault('REQUEST_TIMEOUT'));
  }, ms);
  try {
    return await Promise.race([readAll(request, limit), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
