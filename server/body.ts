import type { IncomingMessage } from 'node:http';
import { type ErrorDetail, fault } from '../core/errors.ts';

/** Largest JSON body, in bytes. */
export const JSON_LIMIT = 2 * 1024 * 1024;

/** Deepest nesting of a JSON body: nothing of the contract comes near it, and recursion further on stays harmless. */
export const JSON_DEPTH = 100;

function broken(path: string, message: string, keyword: string): Error {
  const details: ErrorDetail[] = [{ path, message, keyword }];
  return fault('VALIDATION_ERROR', undefined, { details });
}

/** Whether PostgreSQL can store the text and give it back unchanged: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/**
 * Refuses values that cannot be stored as they are, and nesting beyond JSON_DEPTH. `at` is the JSON Pointer prefix for
 * the error's details. Recursion is bounded by the depth it checks.
 */
export function checkStorable(value: unknown, at: string, depth = 0): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) throw broken(at, 'must not contain NUL or unpaired surrogates', 'text');
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= JSON_DEPTH) throw broken(at.slice(0, 200), `must not nest deeper than ${JSON_DEPTH} levels`, 'depth');
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) throw broken(at, 'must not have property names with NUL or unpaired surrogates', 'text');
      checkStorable(inner, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
    }
  }
}

/** What media type the request says its body has, without parameters, in lower case; '' when it says none. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether the request carries a body at all. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

function readAll(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => fault('PAYLOAD_TOO_LARGE', `The body is over its limit of ${limit} bytes.`);
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge());
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (act: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      act();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) finish(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const onEnd = () => finish(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onLost = () => finish(() => reject(broken('/body', 'ended before it was complete', 'parse')));
    request.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of an operation that takes `accepted` media types. Uploads arrive with the operations that need them:
 * until then a well-formed one is NOT_IMPLEMENTED.
 */
export async function readBody(request: IncomingMessage, accepted: readonly string[]): Promise<unknown> {
  if (!hasBody(request)) return undefined;
  const type = mediaType(request);
  if (!accepted.includes(type)) throw fault('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${accepted.join(' or ')}.`);
  if (type === 'multipart/form-data') throw fault('NOT_IMPLEMENTED');
  return readJson(request);
}

/**
 * Reads a JSON body. Returns `undefined` when there is none. Throws PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE (type,
 * charset or encoding) or VALIDATION_ERROR (not JSON, not storable, too deep).
 */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset && charset.toLowerCase() !== 'utf-8') {
    throw fault('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8.');
  }
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw fault('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.');
  }
  const bytes = await readAll(request, JSON_LIMIT);
  if (bytes.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw broken('/body', Error.isError(error) ? error.message : 'must be JSON', 'parse');
  }
  checkStorable(value, '/body');
  return value;
}
