import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { fault, invalid } from '../core/errors.ts';

/** Largest JSON body, in bytes. */
const JSON_LIMIT = 2 * 1024 * 1024;

/** Most values in a JSON body, arrays and objects included: no documented body comes near it. */
const JSON_VALUES = 50_000;

/** Deepest nesting of a JSON body: nothing of the contract comes near it, and recursion further on stays harmless. */
const JSON_DEPTH = 100;

/** Whether PostgreSQL can store the text and give it back unchanged: no NUL, no half of a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** A property name as one step of a JSON Pointer (RFC 6901). */
export function pointerStep(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/**
 * Refuses values that cannot be stored as they are, nesting beyond JSON_DEPTH, and more than JSON_VALUES values: a
 * validator that names every fault must not be handed millions. `at` is the JSON Pointer prefix for the error's details.
 */
export function checkStorable(value: unknown, at: string): void {
  let values = 0;
  const check = (inner: unknown, path: string, depth: number): void => {
    values += 1;
    if (values > JSON_VALUES) throw invalid(at, `must not have more than ${JSON_VALUES} values`, 'size');
    if (typeof inner === 'string') {
      if (!isStorable(inner)) throw invalid(path, 'must not contain NUL or unpaired surrogates', 'text');
    } else if (typeof inner === 'object' && inner !== null) {
      if (depth >= JSON_DEPTH)
        throw invalid(path.slice(0, 200), `must not nest deeper than ${JSON_DEPTH} levels`, 'depth');
      for (const key in inner) {
        if (!isStorable(key))
          throw invalid(path, 'must not have property names with NUL or unpaired surrogates', 'text');
        check((inner as Record<string, unknown>)[key], `${path}/${pointerStep(key)}`, depth + 1);
      }
    }
  };
  check(value, at, 0);
}

/** The parameters of a query string. Throws VALIDATION_ERROR when its encoding is broken or a value cannot be stored. */
export function readQuery(search: string): Record<string, unknown> {
  if (search === '') return {};
  if (search.includes('%')) {
    try {
      decodeURIComponent(search);
    } catch {
      throw invalid('/query', 'must be percent-encoded UTF-8', 'encoding');
    }
  }
  // maxKeys 0: all of them; by default what follows the thousandth pair would slip through.
  const query = { ...parse(search, undefined, undefined, { maxKeys: 0 }) };
  checkStorable(query, '/query');
  return query;
}

/** What media type the request says its body has, without parameters, in lower case; '' when it says none. */
function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether the request carries a body at all. */
function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

function readAll(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => fault('PAYLOAD_TOO_LARGE', `The body is over its limit of ${limit} bytes.`);
    const lost = () => invalid('/body', 'ended before it was complete', 'parse');
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge());
      return;
    }
    // The client may have gone while its key was looked up; nothing would be emitted any more.
    if (request.destroyed) {
      reject(lost());
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
    const onLost = () => finish(() => reject(lost()));
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
    throw invalid('/body', Error.isError(error) ? error.message : 'must be JSON', 'parse');
  }
  checkStorable(value, '/body');
  return value;
}
