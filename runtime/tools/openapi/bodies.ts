import { randomUUID } from 'node:crypto';
import type { ImportedEndpoint, WrittenAs } from '../../../db/stored/importedEndpoint.ts';
import { ToolFailure } from '../failure.ts';
import { asText } from '../request/placeholders.ts';
import { encodedPairs, pairsOf } from './styles.ts';

/** How bodies of a media type are written. */
export type BodyForm = 'json' | 'form' | 'multipart' | 'text';

/** How bodies of a media type are written; undefined when they cannot be. */
export function bodyFormOf(mediaType: string): BodyForm | undefined {
  const plain = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/[/+]json$/.test(plain)) return 'json';
  if (plain === 'application/x-www-form-urlencoded') return 'form';
  if (plain === 'multipart/form-data') return 'multipart';
  return /^text\/(?!xml|html)[\w.+-]+$/.test(plain) ? 'text' : undefined;
}

/**
 * How a field of a form is written where the document does not say: lists as one field for each item (OpenAPI 3.1, 4.8.15.1), objects as JSON
 * (the `contentType` that objects have by default). Null is not sent: models write it for what they leave out.
 */
function usual(value: unknown): WrittenAs {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return { style: isObject ? 'json' : 'form', explode: true };
}

/** A body and its Content-Type. Throws ToolFailure when a form is no object. */
export function bodyOf(
  { bodyType, bodyFields = {} }: Pick<ImportedEndpoint, 'bodyFields'> & { bodyType: string },
  body: unknown,
): { contentType: string; body: string } {
  const form = bodyFormOf(bodyType);
  if (form === 'text') {
    const contentType = bodyType.includes('charset') ? bodyType : `${bodyType}; charset=utf-8`;
    return { contentType, body: asText(body).toWellFormed() };
  }
  if (form !== 'form' && form !== 'multipart') return { contentType: bodyType, body: JSON.stringify(body) };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ToolFailure('body must be an object: each of its fields is a field of the form.');
  }
  const fields = Object.entries(body).map(([name, value]) => {
    const as = (Object.hasOwn(bodyFields, name) ? bodyFields[name] : undefined) ?? usual(value);
    return { pairs: pairsOf(name, as, value), as };
  });
  if (form === 'form') {
    const encoded = fields.flatMap(({ pairs, as }) => encodedPairs(pairs, as.allowReserved));
    return { contentType: bodyType, body: encoded.join('&') };
  }
  const boundary = `guildhall-${randomUUID()}`;
  const parts = fields.flatMap(({ pairs, as }) =>
    pairs.map(({ name, values, separator, isJson }) => {
      const media = as.contentType ?? (isJson ? 'application/json' : undefined);
      const type = media === undefined ? '' : `\r\nContent-Type: ${media}`;
      const value = values.join(separator).toWellFormed();
      return `--${boundary}\r\nContent-Disposition: form-data; name="${fieldName(name)}"${type}\r\n\r\n${value}\r\n`;
    }),
  );
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: `${parts.join('')}--${boundary}--\r\n` };
}

/** A name within the quotes of a Content-Disposition, as browsers write it (HTML, 4.10.21.8). */
function fieldName(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
