import type { Document, Response } from '../../spec/rules/types.ts';
import { operationsIn } from './operationsIn.ts';

/** The response whose headers every other response has too, but for 401: there is no key yet whose requests are counted. */
const COMMON = 'InternalError';

/** Gives the success responses of all operations, and the response 501, the headers that every response has. */
export function writeResponseHeaders(document: Document): void {
  const responses = (document.components?.responses ?? {}) as Record<string, Response>;
  const headers = responses[COMMON]?.headers;
  if (!headers) return;
  for (const operation of operationsIn(document))
    for (const [status, response] of Object.entries(operation.responses ?? {}))
      if (Number(status) < 400) response.headers = { ...headers, ...response.headers };
  for (const response of Object.values(responses)) response.headers ??= headers;
}
