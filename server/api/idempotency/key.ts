import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { canonicalJson } from '../../../core/json.ts';
import { ownTurn } from '../../../core/ownTurn.ts';
import type { KeyedRequest } from '../../../db/queries/workspaces/idempotencyKeys.ts';
import type { ValidRequest } from '../contract/dispatcher.ts';
import type { DocumentedOperation } from '../contract/document.ts';
import type { Exchange } from '../exchange.ts';

const HEADER = 'Idempotency-Key';
/** Pieces of JSON between two turns of the event loop: about 5 ms. */
const STRETCH = 10_000;

/** The request's `Idempotency-Key`; undefined without one, and for an operation that takes none. */
export function keyOf({ parameters }: DocumentedOperation, headers: IncomingHttpHeaders): string | undefined {
  const value = headers['idempotency-key'];
  if (typeof value !== 'string') return undefined;
  return parameters?.some((each) => each.in === 'header' && each.name === HEADER) ? value : undefined;
}

/**
 * A request as its key knows it. The order of properties in the body does not count; the name, the declared type and every byte of a
 * file do. The file is read in pieces.
 */
export async function keyedRequest(
  { principal, target }: Pick<Exchange, 'principal' | 'target'>,
  key: string,
  { query, body, upload }: ValidRequest,
): Promise<KeyedRequest> {
  const keyHash = createHash('sha256').update(`${target}\n${key}`).digest();
  const hash = createHash('sha256');
  if (upload) {
    const { path, name, sizeBytes, mediaType } = upload.file;
    await digest(hash, { query, form: upload.fields, file: { name, sizeBytes, mediaType } });
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } else {
    await digest(hash, { query, body });
  }
  return { workspaceId: principal.workspaceId, keyHash, requestHash: hash.digest() };
}

/** Takes a value into the digest, whatever the order of its properties. */
async function digest(hash: Hash, value: unknown): Promise<void> {
  let text = '';
  let pieces = 0;
  for (const piece of canonicalJson(value)) {
    text += piece;
    pieces += 1;
    if (pieces % STRETCH !== 0) continue;
    hash.update(text);
    text = '';
    await ownTurn();
  }
  hash.update(text);
}
