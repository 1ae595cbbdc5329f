import type { WrittenAs } from '../../../db/stored/importedEndpoint.ts';
import { asText, percentEncode } from '../request/placeholders.ts';

type Encode = (text: string) => string;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value in the style `simple` or `form` (RFC 6570, 3.2.2 and 3.2.8). */
export function joined(value: unknown, explode: boolean, encode: Encode, separator = ','): string {
  if (Array.isArray(value)) return value.map((item) => encode(asText(item))).join(separator);
  if (!isObject(value)) return encode(asText(value));
  const pairs = Object.entries(value).map(([key, inner]) => [encode(key), encode(asText(inner))]);
  return pairs.map((pair) => pair.join(explode ? '=' : separator)).join(separator);
}

/** A value of a path, percent-encoded. '' when there is none. */
export function pathText(name: string, { style, explode }: WrittenAs, value: unknown): string {
  if (style === 'json') return percentEncode(JSON.stringify(value));
  if (style === 'label') {
    const text = joined(value, explode, percentEncode, explode ? '.' : ',');
    return text === '' ? '' : `.${text}`;
  }
  if (style !== 'matrix') return joined(value, explode, percentEncode);
  const key = percentEncode(name);
  if (explode && Array.isArray(value)) return value.map((item) => `;${key}=${percentEncode(asText(item))}`).join('');
  if (explode && isObject(value)) {
    const fields = Object.entries(value);
    return fields.map(([field, inner]) => `;${percentEncode(field)}=${percentEncode(asText(inner))}`).join('');
  }
  const text = joined(value, explode, percentEncode);
  return text === '' ? '' : `;${key}=${text}`;
}

const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
  tabDelimited: '\t',
};

/** A name of a query or of a form, and its value; nothing is encoded yet. */
export interface Pair {
  name: string;
  /** The parts of the value, between which `separator` stands. */
  values: string[];
  /** It may have to stay as it is where the parts are encoded. */
  separator: string;
}

const one = (name: string, value: unknown): Pair => ({ name, values: [asText(value)], separator: '' });

/**
 * A value of a query or of a form. What no style says is written as JSON: an object in a list, or in an object that is no `deepObject`.
 */
export function pairsOf(name: string, { style, explode }: WrittenAs, value: unknown): Pair[] {
  if (style === 'json') return [{ name, values: [JSON.stringify(value)], separator: '' }];
  if (style === 'deepObject') return deepPairs(name, value);
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => one(name, item));
    return [{ name, values: value.map(asText), separator: SEPARATORS[style] ?? ',' }];
  }
  if (!isObject(value)) return [one(name, value)];
  const fields = Object.entries(value);
  if (explode) return fields.map(([field, inner]) => one(field, inner));
  const values = fields.flatMap(([field, inner]) => [field, asText(inner)]);
  return [{ name, values, separator: SEPARATORS[style] ?? ',' }];
}

/**
 * `name[field]=…`, `name[]=…` for lists of plain values, and `name[0][field]=…` for other lists. OpenAPI says what `deepObject` means for
 * plain values of an object alone. The rest is what Stripe documents for its API (https://docs.stripe.com/api: `expand[]`,
 * `items[0][price]`), and what PHP, Rails and `qs` read.
 */
function deepPairs(name: string, value: unknown): Pair[] {
  if (Array.isArray(value)) {
    const isPlain = value.every((item) => typeof item !== 'object' || item === null);
    return value.flatMap((item, index) => deepPairs(`${name}[${isPlain ? '' : index}]`, item));
  }
  if (!isObject(value)) return [one(name, value)];
  return Object.entries(value).flatMap(([field, inner]) => deepPairs(`${name}[${field}]`, inner));
}

/** Pairs as they stand in a query and in application/x-www-form-urlencoded. Commas between values stay commas. */
export function encodedPairs(pairs: readonly Pair[]): string[] {
  return pairs.map(({ name, values, separator }) => {
    const between = separator === ',' ? ',' : percentEncode(separator);
    return `${percentEncode(name)}=${values.map(percentEncode).join(between)}`;
  });
}
