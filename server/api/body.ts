import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { fault, invalid } from '../../core/errors.ts';
import { boundPassed } from '../../core/jsonBounds.ts';
import { ownTurn } from '../../core/ownTurn.ts';
import type { DocumentedOperation } from './contract/document.ts';
import { bodyTooLarge, isLargeBody, readLargeBody } from './largeBodies.ts';
import { checkStorable, MAX_JSON_VALUES, tooDeep, tooManyValues } from './storable.ts';
import { type Form, readForm } from './upload.ts';

/** Largest JSON body, in bytes. */
const JSON_LIMIT = 2 * 1024 * 1024;
/** Bytes of a JSON body that takes some milliseconds to read, to check and to validate. */
const LARGE_JSON = 65_536;
/** What is parsed. Of a value that nests too deeply, but not deeper than this, an error names the place. */
const PARSED = { values: MAX_JSON_VALUES, depth: 1_000 };

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
  // maxKeys 0 means no limit. By default the pairs after the thousandth would be ignored, and so not be validated.
  const query = { ...parse(search, undefined, undefined, { maxKeys: 0 }) };
  // Equal values of a parameter that is given more than once count once.
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) query[name] = [...new Set(value)];
  }
  checkStorable(query, '/query');
  return query;
}

/** The media type of the body by the request's header, without parameters, in lower case; '' without a header. */
function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether the request carries a body at all. */
function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** Reads the body to memory, at most `limit` bytes. Throws PAYLOAD_TOO_LARGE, and VALIDATION_ERROR when it ends before it is whole. */
export function readAll(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => bodyTooLarge(limit);
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

/** Lets others have their turn after a part of the work on a large body. */
async function turnOfLoop(body: Buffer): Promise<void> {
  if (body.length > LARGE_JSON) await ownTurn();
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body of a request: JSON, a form, or neither. */
export interface Body {
  json?: unknown;
  form?: Form;
}

/** What the reading of a body needs. */
export interface BodyOptions {
  /** The folder for temporary files. */
  uploadDir: string;
  /** Waits for the turn of the request's workspace: parsing computes, and receiving does not. */
  turn(): Promise<void> | undefined;
  workspaceId: string;
}

/**
 * Reads the body of an operation: JSON to memory, a form to temporary files in `uploadDir`, which the caller discards.
 * Throws PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE (type, charset or encoding) or VALIDATION_ERROR (not what it says it
 * is, not storable, too deep).
 */
export async function readRequestBody(
  request: IncomingMessage,
  operation: DocumentedOperation,
  { uploadDir, turn, workspaceId }: BodyOptions,
): Promise<Body> {
  const accepted = operation.requestBody && Object.keys(operation.requestBody.content);
  if (!accepted || !hasBody(request)) {
    await turn();
    return {};
  }
  const type = mediaType(request);
  if (!accepted.includes(type))
    throw fault('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${accepted.sort().join(' or ')}.`);
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw fault('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.');
  }
  if (operation.form && type === 'multipart/form-data') {
    const form = await readForm(request, operation.form, { dir: uploadDir });
    await turn();
    return { form };
  }
  const isLarge = isLargeBody(request, operation.operationId, JSON_LIMIT);
  const receive = () =>
    isLarge ? readLargeBody(request, { workspaceId, uploadDir, usualLimit: JSON_LIMIT }) : readAll(request, JSON_LIMIT);
  const json = await readJson(request, turn, receive);
  // Generated clients send null for a body that nobody has set.
  return { json: json === null && !operation.requestBody?.required ? undefined : json };
}

/** Reads a JSON body; `undefined` when there is none. */
async function readJson(
  request: IncomingMessage,
  turn: BodyOptions['turn'],
  receive: () => Promise<Buffer>,
): Promise<unknown> {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset && charset.toLowerCase() !== 'utf-8') {
    throw fault('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8.');
  }
  const bytes = await receive();
  await turn();
  if (bytes.length === 0) return undefined;
  // Parsing takes far longer than counting, and there is a bound for it.
  const passed = boundPassed(bytes, PARSED);
  if (passed === 'depth') throw tooDeep('/body');
  if (passed === 'values') throw tooManyValues('/body');
  await turnOfLoop(bytes);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw invalid('/body', Error.isError(error) ? error.message : 'must be JSON', 'parse');
  }
  await turnOfLoop(bytes);
  checkStorable(value, '/body');
  await turnOfLoop(bytes);
  return value;
}
