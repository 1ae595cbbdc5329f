import type { WrittenAs } from '../../../db/stored/importedEndpoint.ts';
import { asText, percentEncode } from '../request/placeholders.ts';

type Encode = (text: string) => string;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What RFC 6570, 2.3, calls undefined: it is not sent, and an item of a list that is null leaves no gap. */
function isUndefined(value: unknown): boolean {
  return value === undefined || value === null;
}
const itemsOf = (list: readonly unknown[]) => list.filter((item) => !isUndefined(item));
const fieldsOf = (object: object) => Object.entries(object).filter(([, inner]) => !isUndefined(inner));

/** A value in the style `simple` or `form` (RFC 6570, 3.2.2 and 3.2.8). */
function joined(value: unknown, explode: boolean, encode: Encode, separator = ','): string {
  if (Array.isArray(value))
    return itemsOf(value)
      .map((item) => encode(asText(item)))
      .join(separator);
  if (!isObject(value)) return encode(asText(value));
  const pairs = fieldsOf(value).map(([key, inner]) => [encode(key), encode(asText(inner))]);
  return pairs.map((pair) => pair.join(explode ? '=' : separator)).join(separator);
}

/** The separators of Swagger 2, which also paths and headers may have; in place of the comma. */
const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
  tabDelimited: '\t',
};
const separatorOf = (style: string) => SEPARATORS[style] ?? ',';
/** Commas between values stay commas. */
const encodedSeparator = (separator: string) => (separator === ',' ? ',' : percentEncode(separator));

/** A value of a path, percent-encoded. '' when there is none. */
export function pathText(name: string, { style, explode }: WrittenAs, value: unknown): string {
  if (style === 'json') return percentEncode(JSON.stringify(value));
  if (style === 'label') {
    const text = joined(value, explode, percentEncode, explode ? '.' : ',');
    return text === '' ? '' : `.${text}`;
  }
  if (style !== 'matrix') return joined(value, explode, percentEncode, encodedSeparator(separatorOf(style)));
  // RFC 6570, 3.2.7: an empty value has no `=`.
  const named = (key: string, text: string) => `;${percentEncode(key)}${text === '' ? '' : `=${text}`}`;
  const oneOf = (key: string, inner: unknown) => named(key, percentEncode(asText(inner)));
  if (explode && Array.isArray(value))
    return itemsOf(value)
      .map((item) => oneOf(name, item))
      .join('');
  if (explode && isObject(value))
    return fieldsOf(value)
      .map(([field, inner]) => oneOf(field, inner))
      .join('');
  const text = joined(value, explode, percentEncode);
  return text === '' && typeof value === 'object' ? '' : named(name, text);
}

/** A value of a header. '' when there is none. */
export function headerText({ style, explode }: WrittenAs, value: unknown): string {
  if (style === 'json') return JSON.stringify(value);
  return joined(value, explode, (each) => each, separatorOf(style));
}

/** A name of a query or of a form, and its value; nothing is encoded yet. */
export interface Pair {
  name: string;
  /** The parts of the value, between which `separator` stands. */
  values: string[];
  /** It may have to stay as it is where the parts are encoded. */
  separator: string;
  /** Whether the value is JSON. */
  isJson: boolean;
}

function one(name: string, value: unknown): Pair {
  return { name, values: [asText(value)], separator: '', isJson: typeof value === 'object' && value !== null };
}

/**
 * A value of a query or of a form. What no style says is written as JSON: an object in a list, or in an object that is no `deepObject`. Lists and
 * objects without a value are not sent (RFC 6570, 2.3; OpenAPI 3.1.2, appendix C).
 */
export function pairsOf(name: string, { style, explode }: WrittenAs, value: unknown): Pair[] {
  if (style === 'json') return [{ name, values: [JSON.stringify(value)], separator: '', isJson: true }];
  if (isUndefined(value)) return [];
  if (style === 'deepObject') return deepPairs(name, value);
  if (typeof value !== 'object' || value === null) return [one(name, value)];
  if (explode)
    return Array.isArray(value)
      ? itemsOf(value).map((item) => one(name, item))
      : fieldsOf(value).map(([field, inner]) => one(field, inner));
  const values = Array.isArray(value)
    ? itemsOf(value).map(asText)
    : fieldsOf(value).flatMap(([field, inner]) => [field, asText(inner)]);
  return values.length === 0 ? [] : [{ name, values, separator: separatorOf(style), isJson: false }];
}

/**
 * `name[field]=…`, `name[]=…` for lists of plain values, and `name[0][field]=…` for other lists. OpenAPI says what `deepObject` means for
 * plain values of an object alone. The rest is what Stripe documents for its API (https://docs.stripe.com/api: `expand[]`,
 * `items[0][price]`), and what PHP, Rails and `qs` read.
 */
function deepPairs(name: string, value: unknown): Pair[] {
  if (Array.isArray(value)) {
    const items = itemsOf(value);
    const isPlain = items.every((item) => typeof item !== 'object');
    return items.flatMap((item, index) => deepPairs(`${name}[${isPlain ? '' : index}]`, item));
  }
  if (!isObject(value)) return [one(name, value)];
  return fieldsOf(value).flatMap(([field, inner]) => deepPairs(`${name}[${field}]`, inner));
}

/** What `allowReserved` leaves as it is: of the reserved characters those that have no meaning of their own in a query or a form. */
const STAY_RESERVED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g;
const TRIPLET = /(%[\da-f]{2})/i;

/** Reserved expansion (RFC 6570, 3.2.3), which keeps what is percent-encoded already. OpenAPI 3.1.2, appendix C, has `[]#&=+` encoded all the same. */
function encodeReserved(text: string, separator: string): string {
  const parts = text.split(TRIPLET).map((part, index) => {
    if (index % 2 === 1) return part;
    return percentEncode(part).replace(STAY_RESERVED, (code) => {
      const char = decodeURIComponent(code);
      // One within a value would split it.
      return char === separator ? code : char;
    });
  });
  return parts.join('');
}

/** Pairs as they stand in a query and in application/x-www-form-urlencoded. Commas between values stay commas. */
export function encodedPairs(pairs: readonly Pair[], allowReserved = false): string[] {
  return pairs.map(({ name, values, separator }) => {
    const encoded = values.map((value) => (allowReserved ? encodeReserved(value, separator) : percentEncode(value)));
    return `${percentEncode(name)}=${encoded.join(encodedSeparator(separator))}`;
  });
}
