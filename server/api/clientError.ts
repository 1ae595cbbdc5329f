import type { Duplex } from 'node:stream';
import { type ApiError, fault } from '../../core/errors.ts';
import { REASON_PHRASES } from '../../core/nodeHttp.ts';
import { errorBody } from './errors.ts';
import { PROTECTIVE_HEADERS } from './identify.ts';
import { requestIdOf } from './requestId.ts';

/** Codes of Node for a request that is no HTTP at all, or does not arrive. Every other one is bad syntax. */
const FAULTS: Readonly<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: fault('VALIDATION_ERROR', 'The address and headers of the request are over 16 KiB.'),
  ERR_HTTP_REQUEST_TIMEOUT: fault('REQUEST_TIMEOUT'),
};
const BAD_SYNTAX = fault('VALIDATION_ERROR', 'This is not a valid HTTP request.');

/**
 * Answers what never becomes a request: no HTTP, a head over Node's limit of 16 KiB, or one that does not arrive in time. Express does not
 * see it, and Node's own answer would have no body.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // The client is gone, or its connection failed in the middle of something.
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else endWithError(socket, FAULTS[error.code ?? ''] ?? BAD_SYNTAX);
}

/** Writes an error on a connection that has no response of Node's, and ends the connection. */
export function endWithError(socket: Duplex, error: ApiError): void {
  const requestId = requestIdOf(undefined);
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    ...PROTECTIVE_HEADERS,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${REASON_PHRASES[error.status]}\r\n${lines.join('')}\r\n${body}`);
}
