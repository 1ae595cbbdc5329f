import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestIdOf } from './requestId.ts';

/** What every answer of the API has: no cache keeps it, and no browser takes it for another type than it says. */
export const PROTECTIVE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const;

/** Sets the headers that every answer has, with the `X-Request-Id` that it returns. */
export function identify(request: IncomingMessage, response: ServerResponse): string {
  const requestId = requestIdOf(request.headers['x-request-id']);
  response.setHeader('X-Request-Id', requestId);
  protect(response);
  return requestId;
}

/** Sets the headers of `PROTECTIVE_HEADERS`. */
export function protect(response: ServerResponse): void {
  for (const [name, value] of Object.entries(PROTECTIVE_HEADERS)) response.setHeader(name, value);
}
