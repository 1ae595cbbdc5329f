import { boundPassed } from '../../../core/jsonBounds.ts';
import type { OutgoingResponse } from '../../../core/outgoing.ts';

/** Bytes that a response to a tool may have. */
export const MAX_RESPONSE_BYTES = 1_048_576;
/** Levels that the JSON of a tool may nest. Code that reads it, here and in PostgreSQL, is recursive. */
export const MAX_DEPTH = 100;
/** What is read as JSON. A larger response stays text: parsing it, and all that follows, would take long. */
const JSON_BOUNDS = { values: 25_000, depth: MAX_DEPTH };

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
      // The declared charset is unknown: try UTF-8.
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The body of a response as the result of a tool: a JSON object as it is, other JSON under `data`, other text under `text`, also JSON of
 * more than 25,000 values or 100 levels; null
 * when it is empty. The charset is that of a byte order mark, else the declared one, else UTF-8, else Windows-1252 where the
 * Content-Type is text. Of binary data the result has the size and the type.
 */
export function readResponseBody({
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
  const isJson = /[/+]json$/.test(mediaType) || /^\s*[[{]/.test(text);
  if (isJson && boundPassed(Buffer.from(text), JSON_BOUNDS) === undefined) {
    try {
      const value: unknown = JSON.parse(text);
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isObject ? (value as Record<string, unknown>) : { data: value };
    } catch {
      // Not JSON: return it as text.
    }
  }
  return text === '' ? null : { text };
}
