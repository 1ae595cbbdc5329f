import type { Duplex } from 'node:stream';
import { fault } from '../../core/errors.ts';
import { errorBody } from './errors.ts';
import { requestIdOf } from './requestId.ts';

/**
 * Answers what is no HTTP request at all, or has a head over Node's limit of 16 KiB: Express never sees it, and Node's own
 * answer would have no body.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The client is gone, or its connection failed in the middle of something.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = requestIdOf(undefined);
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const message = tooLong
    ? 'The address and headers of the request are over 16 KiB.'
    : 'This is not a valid HTTP request.';
  const body = JSON.stringify(errorBody(fault('VALIDATION_ERROR', message), requestId));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
  );
}
