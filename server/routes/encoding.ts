import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** A content encoding that bodies are kept in. Everything that is kept in advance is kept in both. */
export type Encoding = 'br' | 'gzip';

/**
 * The encoding to answer with: Brotli before gzip, whatever the order in which the client names them; undefined where it takes
 * neither. Sets `Vary`, and `Content-Encoding` where there is one.
 */
export function chooseEncoding(request: Request, response: Response): Encoding | undefined {
  response.vary('Accept-Encoding');
  const encoding = (['br', 'gzip'] as const).find((each) => request.acceptsEncodings(each));
  if (encoding) response.setHeader('Content-Encoding', encoding);
  return encoding;
}

/** Sends what `gzipped` holds, for a client that takes no compressed bodies. Resolves when it has left or the client has. */
export async function sendUnzipped(
  request: Request,
  response: Response,
  gzipped: NodeJS.ReadableStream,
): Promise<void> {
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  await pipeline(gzipped, createGunzip(), response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}
