/** Whether a value nests more than `max` objects and arrays in each other. Does not recurse, so that no value overflows the stack. */
export function isDeeperThan(value: unknown, max: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    level = level.filter((each) => typeof each === 'object' && each !== null);
    if (level.length > 0 && depth >= max) return true;
    level = level.flatMap((each) => Object.values(each as object));
  }
  return false;
}

/**
 * The value as PostgreSQL can store it in jsonb: U+FFFD in place of each NUL and each half of a surrogate pair, in property names
 * too. Undefined when it nests more than `maxDepth` objects and arrays in each other.
 */
export function toStorableJson(value: unknown, maxDepth: number): unknown {
  if (isDeeperThan(value, maxDepth)) return undefined;
  const text = JSON.stringify(value).replace(UNSTORABLE, (code) => (code === '\\\\' ? code : '\\ufffd'));
  return JSON.parse(text);
}

/** Whether PostgreSQL can store a text of `JSON.stringify` as jsonb: it escapes no NUL and no half of a surrogate pair. */
export function isStorableJson(json: string): boolean {
  return !json.match(UNSTORABLE)?.some((code) => code !== '\\\\');
}

/** JSON.stringify escapes these. A pair of backslashes matches too, so that its second one does not begin an escape. */
const UNSTORABLE = /\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** A bit in which `[` differs from `{`, and `]` from `}`. */
const CURLY = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** Bounds of a JSON text that is to be parsed. */
export interface JsonBounds {
  /** Values, arrays and objects included. */
  values: number;
  /** Arrays and objects in each other. */
  depth: number;
}

/**
 * Which bound JSON in UTF-8 goes beyond; undefined when none. The bytes are counted and not parsed, which takes a twentieth of the time:
 * a few milliseconds a megabyte. Of bytes that are no JSON the answer means nothing.
 */
export function boundPassed(json: Uint8Array, bounds: JsonBounds): keyof JsonBounds | undefined {
  let values = 1;
  let depth = 0;
  let last = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (byte <= 0x20) continue;
    if (byte === QUOTE) {
      for (at += 1; at < json.length && json[at] !== QUOTE; at += 1) if (json[at] === BACKSLASH) at += 1;
    } else if (byte === COMMA) {
      values += 1;
    } else if ((byte | CURLY) === OPENING) {
      // With its first value.
      values += 1;
      depth += 1;
      if (depth > bounds.depth) return 'depth';
    } else if ((byte | CURLY) === CLOSING) {
      // An empty one has no value.
      if ((last | CURLY) === OPENING) values -= 1;
      depth -= 1;
    }
    // One that has just begun may be empty.
    if (values > bounds.values + 1) return 'values';
    last = byte;
  }
  return values > bounds.values ? 'values' : undefined;
}

/** An index of an array: JavaScript puts properties of such names first, in the order of the numbers. */
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** The names of the properties: indexes first, then the others in their order. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  const others = keys.findIndex((key) => !(INDEX.test(key) && Number(key) < 2 ** 32 - 1));
  return others === -1 ? keys : [...keys.slice(0, others), ...keys.slice(others).sort()];
}

/**
 * JSON with the properties of each object in the order of their names, in pieces: equal for values that differ in this order only. For
 * values that JSON has; properties that are undefined are left out.
 */
export function* canonicalJson(value: unknown): Generator<string, void, undefined> {
  if (typeof value !== 'object' || value === null) {
    yield JSON.stringify(value);
    return;
  }
  const isArray = Array.isArray(value);
  let begin = isArray ? '[' : '{';
  for (const key of isArray ? value.keys() : sortedKeys(value)) {
    const inner = (value as Record<string | number, unknown>)[key];
    if (inner === undefined && !isArray) continue;
    yield isArray ? begin : `${begin}${JSON.stringify(key)}:`;
    yield* canonicalJson(inner ?? null);
    begin = ',';
  }
  if (begin !== ',') yield begin;
  yield isArray ? ']' : '}';
}
