import type { IncomingMessage } from 'node:http';
import { type ApiError, fault, invalid } from '../../core/errors.ts';
import { ThreadStopped } from '../../core/thread.ts';
import type { OperationId } from '../../generated/operations.ts';
import { MAX_DOCUMENT_BYTES } from '../../runtime/tools/openapi/documentText.ts';
import { readers, whenBusy } from '../../runtime/tools/openapi/readers.ts';
import type { Shrunk } from '../../runtime/tools/openapi/shrink.ts';
import { type SpoolOptions, spoolBody } from './spooledBody.ts';
import { tooDeep, tooManyValues } from './storable.ts';

/** The operations whose body may have an OpenAPI document. */
const TAKES_DOCUMENT: ReadonlySet<OperationId> = new Set(['createTool', 'updateTool']);
/** Bytes of a body beyond which a document in it may have to be shortened. */
const SHORTENED_BYTES = 512 * 1024;
/** Bodies over the usual limit of one workspace at a time. They are on the disk, so there is no such bound for all workspaces together. */
const AT_ONCE_OF_ONE = 8;
const BUSY_SECONDS = 5;

/** Bodies over the usual limit that are under way, by workspace. */
const underWay = new Map<string, number>();

/** For whom a large body is read, and what it may have. */
export interface LargeBodyOptions extends SpoolOptions {
  workspaceId: string;
  /** Bytes that bodies may have in general, and that this one may have when its document is shortened. */
  usualLimit: number;
}

/** Whether the body of this request may be larger than others, and is made smaller before it is parsed. A larger body must give its length. */
export function isLargeBody(request: IncomingMessage, operationId: OperationId, usualLimit: number): boolean {
  const length = Number(request.headers['content-length'] ?? 0);
  return TAKES_DOCUMENT.has(operationId) && length > SHORTENED_BYTES && length <= MAX_DOCUMENT_BYTES + usualLimit;
}

/**
 * Reads a body for which `isLargeBody` holds: the same body with less of its document. It is received to a file and read by a thread, so a client
 * that sends slowly keeps nothing that others wait for. Throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE where its document is not what makes it large, and
 * RATE_LIMITED when too many of this workspace are under way.
 */
export async function readLargeBody(request: IncomingMessage, options: LargeBodyOptions): Promise<Buffer> {
  const { workspaceId, usualLimit } = options;
  const leave = Number(request.headers['content-length']) > usualLimit ? enter(workspaceId) : () => {};
  try {
    const { path, discard } = await spoolBody(request, options);
    try {
      return await shorten(workspaceId, path, usualLimit);
    } finally {
      await discard();
    }
  } finally {
    leave();
  }
}

function enter(workspaceId: string): () => void {
  const own = underWay.get(workspaceId) ?? 0;
  if (own >= AT_ONCE_OF_ONE) {
    const message =
      'This workspace sends too many large OpenAPI documents at a time. Wait and try again, or give the address of the document.';
    throw fault('RATE_LIMITED', message, { headers: { 'Retry-After': String(BUSY_SECONDS) } });
  }
  underWay.set(workspaceId, own + 1);
  return () => {
    const left = (underWay.get(workspaceId) ?? 0) - 1;
    if (left > 0) underWay.set(workspaceId, left);
    else underWay.delete(workspaceId);
  };
}

/** The error for a body over its limit. */
export function bodyTooLarge(limit: number): ApiError {
  return fault('PAYLOAD_TOO_LARGE', `The body is over its limit of ${limit} bytes.`);
}

async function shorten(workspaceId: string, file: string, usualLimit: number): Promise<Buffer> {
  let shrunk: Shrunk;
  try {
    shrunk = (await readers.run(workspaceId, { file, limit: usualLimit })) as Shrunk;
  } catch (error) {
    whenBusy(error);
    if (!(error instanceof ThreadStopped) || error.reason === 'ended') throw error;
    const why = error.reason === 'late' ? 'takes too long to read' : 'is too large to read';
    throw invalid('/body/configuration/openapi', why, 'size');
  }
  if ('body' in shrunk) return Buffer.from(shrunk.body);
  if ('invalid' in shrunk) throw invalid('/body', shrunk.invalid, 'parse');
  if (shrunk.passed === 'bytes') throw bodyTooLarge(usualLimit);
  throw shrunk.passed === 'depth' ? tooDeep('/body') : tooManyValues('/body');
}
