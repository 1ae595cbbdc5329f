import { hash } from 'node:crypto';
import type { StoredRequestMessage } from '../../db/stored/stepRequest.ts';
import type { ModelTool } from '../models/call.ts';

/** What a request has that may be long: its instructions, its tools, or a message. */
export type LogValue = string | readonly ModelTool[] | StoredRequestMessage;

/**
 * A value of a request, or a part of a long one. Of a part the first text, the third and so on are JSON as they stand, and those between them
 * are the text within a string of JSON.
 */
export type LogChunk = { value: LogValue } | string[];

/** The bytes of a digest: the first 128 bits of SHA-256. */
export const DIGEST_BYTES = 16;
/** UTF-16 units of a chunk, about. What has no more is one chunk. */
export const MAX_CHUNK = 64_000;
/** Longer strings are cut. */
const MAX_TEXT = 16_000;

/** UTF-16 units of the texts in a value, and a few for each thing else in it: less than its JSON has. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 2;
  if (Array.isArray(value)) {
    for (const inner of value) size += sizeOf(inner);
  } else {
    for (const key of Object.keys(value)) size += key.length + sizeOf((value as Record<string, unknown>)[key]);
  }
  return size;
}

/** A value in one chunk, or in several of about the same length. Equal values have equal chunks. */
export function* chunksOf(value: LogValue): Generator<{ chunk: LogChunk; size: number }, void, undefined> {
  const whole = sizeOf(value);
  if (whole <= MAX_CHUNK) {
    yield { chunk: { value }, size: whole };
    return;
  }
  let chunk: string[] = [];
  let size = 0;
  for (const { json, text } of tokensOf(value)) {
    // What is JSON joins what is JSON before it.
    if (chunk.length % 2 === 1) chunk.push(`${chunk.pop() ?? ''}${json}`);
    else chunk.push(json);
    if (text !== '') chunk.push(text);
    size += json.length + text.length;
    if (size < MAX_CHUNK) continue;
    yield { chunk, size };
    chunk = [];
    size = 0;
  }
  if (chunk.length > 0) yield { chunk, size };
}

/** The JSON of a value in small pieces: JSON, and text behind it that is within a string. */
function* tokensOf(value: unknown): Generator<{ json: string; text: string }, void, undefined> {
  if (typeof value === 'string' && value.length > MAX_TEXT) {
    let json = '"';
    for (let start = 0; start < value.length; json = '') {
      let end = Math.min(start + MAX_TEXT, value.length);
      // Halves of a surrogate pair would be escaped.
      if (/[\uD800-\uDBFF]/.test(value.charAt(end - 1)) && end < value.length) end -= 1;
      yield { json, text: value.slice(start, end) };
      start = end;
    }
    yield { json: '"', text: '' };
  } else if (typeof value === 'object' && value !== null) {
    const isArray = Array.isArray(value);
    let begin = isArray ? '[' : '{';
    for (const [key, inner] of Object.entries(value)) {
      if (inner === undefined && !isArray) continue;
      yield { json: isArray ? begin : `${begin}${JSON.stringify(key)}:`, text: '' };
      yield* tokensOf(inner ?? null);
      begin = ',';
    }
    yield { json: `${begin === ',' ? '' : begin}${isArray ? ']' : '}'}`, text: '' };
  } else yield { json: JSON.stringify(value), text: '' };
}

/** A text that differs for chunks that differ. */
function keyOf(chunk: LogChunk): string {
  if (Array.isArray(chunk)) return chunk.map((text) => `${text.length}:${text}`).join('');
  const { value } = chunk;
  return typeof value === 'object' && 'content' in value && typeof value.content === 'string'
    ? `${value.role}: ${value.content}`
    : JSON.stringify(value);
}

const shortHash = (text: string | Uint8Array): Buffer => hash('sha256', text, 'buffer').subarray(0, DIGEST_BYTES);

/** The digest of a chunk. */
export const digestOfChunk = (chunk: LogChunk): Buffer => shortHash(keyOf(chunk));

/** The digest of a value whose chunks have these digests. */
export const joinedDigest = (ofChunks: readonly Buffer[]): Buffer =>
  ofChunks.length === 1 && ofChunks[0] ? ofChunks[0] : shortHash(Buffer.concat(ofChunks));

/** The JSON of a chunk. That of the chunks of a value, one after the other, is that of the value. */
export function jsonOfChunk(chunk: LogChunk): string {
  if (!Array.isArray(chunk)) return JSON.stringify(chunk.value);
  return chunk.map((text, place) => (place % 2 === 0 ? text : JSON.stringify(text).slice(1, -1))).join('');
}
