import type { OperationId } from '../../generated/operations.ts';
import { GuildhallError } from './errors.ts';
import { retryAfterSeconds } from './retry.ts';
import type { CodeOf, ErrorDetail } from './types.ts';

/** An error of the API has a few hundred characters. What is longer is not read. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_QUOTE = 160;

/**
 * The body of a success; `undefined` when it is empty.
 * @throws GuildhallError when the answer is an error, or no JSON
 */
export async function bodyOf(response: Response, operationId: OperationId): Promise<unknown> {
  if (!response.ok) throw await errorOf(response, operationId);
  const text = await response.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(response, text, operationId);
  }
}

/** The error that a response is. */
export async function errorOf<Id extends OperationId>(
  response: Response,
  operationId?: Id,
): Promise<GuildhallError<Id>> {
  const text = await beginningOf(response);
  const body = parsed(text);
  if (!isApiError(body)) return unreadable(response, text, operationId);
  return new GuildhallError<Id>({
    status: response.status,
    code: body.code as CodeOf<Id>,
    message: body.message,
    details: Array.isArray(body.details) ? (body.details as ErrorDetail[]) : [],
    requestId: body.requestId ?? response.headers.get('x-request-id') ?? undefined,
    operationId,
    retryAfterSeconds: retryAfterSeconds(response.headers, Date.now()),
  });
}

/** An answer that is not the API's: the error page of a proxy, or that of a network that wants a login. */
export function unreadable<Id extends OperationId>(
  response: Response,
  text: string,
  operationId?: Id,
): GuildhallError<Id> {
  const { status, statusText, headers } = response;
  const type = headers.get('content-type')?.split(';')[0] || 'no content type';
  const quote = text
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim();
  const begins = quote === '' ? '' : ` It begins: ${quote.slice(0, MAX_QUOTE)}${quote.length > MAX_QUOTE ? '…' : ''}`;
  return new GuildhallError<Id>({
    status,
    code: 'UNREADABLE_RESPONSE',
    message: `The answer ${[status, statusText].join(' ').trim()} (${type}) is not one of the API.${begins}`,
    requestId: headers.get('x-request-id') ?? undefined,
    operationId,
    retryAfterSeconds: retryAfterSeconds(headers, Date.now()),
  });
}

/** The first part of a body, as text. The rest is not read. */
async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  while (bytes < MAX_ERROR_BYTES) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isApiError(value: unknown): value is { code: string; message: string; details?: unknown; requestId?: string } {
  const { code, message } = (value ?? {}) as { code?: unknown; message?: unknown };
  return typeof code === 'string' && typeof message === 'string';
}
