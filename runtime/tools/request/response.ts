import { isDeeperThan } from '../../../core/json.ts';
import type { OutgoingResponse } from '../../../core/outgoing.ts';

/** Bytes of an answer that a tool takes in. */
export const MAX_RESPONSE_BYTES = 1_048_576;
/** Levels that JSON of a tool may nest: what walks over it, here and in PostgreSQL, does so by recursion. */
export const MAX_DEPTH = 100;

function decode(bytes: Buffer, charset: string | undefined): string | undefined {
  const marked =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : undefined;
  for (const label of [marked, charset]) {
    if (label === undefined) continue;
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      // An encoding that nobody knows: what the bytes say counts.
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * An answer as tools give it back: a JSON object as it is, other JSON under `data`, other text under `text`; null when it
 * is empty. The charset is the declared one, else UTF-8, else Latin-1 where the answer calls itself text. What is no
 * text is told in words.
 */
export function readBody({
  body,
  headers,
}: Pick<OutgoingResponse, 'body' | 'headers'>): Record<string, unknown> | null {
  if (body.length === 0) return null;
  const contentType = headers['content-type'] ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isText = /^text\/|[/+](?:json|xml|javascript)$/.test(mediaType);
  const charset = /;\s*charset="?([\w.:-]{1,40})/i.exec(contentType)?.[1];
  const text = decode(body, charset) ?? (isText ? new TextDecoder('windows-1252').decode(body) : undefined);
  if (text === undefined || (text.includes('\0') && !isText)) {
    return { text: `(${body.length} bytes of ${mediaType || 'unknown type'})` };
  }
  if (/[/+]json$/.test(mediaType) || /^\s*[[{]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (!isDeeperThan(value, MAX_DEPTH)) {
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        return isObject ? (value as Record<string, unknown>) : { data: value };
      }
    } catch {
      // Not JSON after all.
    }
  }
  return text === '' ? null : { text };
}
