/** Whether a value nests more than `max` objects and arrays in each other. Does not recurse, so that no value overflows the stack. */
export function isDeeperThan(value: unknown, max: number): boolean {
  let level = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= max) return true;
    const next: object[] = [];
    for (const each of level) {
      for (const key in each) {
        const inner = (each as Record<string, unknown>)[key];
        if (isContainer(inner)) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * The value as PostgreSQL can store it in jsonb: U+FFFD in place of each NUL and each half of a surrogate pair, in property names
 * too. Undefined when it nests more than `maxDepth` objects and arrays in each other.
 */
export function toStorableJson(value: unknown, maxDepth: number): unknown {
  const text = storableText(value, maxDepth);
  return text === undefined ? undefined : JSON.parse(text);
}

/** The JSON of what `toStorableJson` returns. */
export function storableText(value: unknown, maxDepth: number): string | undefined {
  return isDeeperThan(value, maxDepth) ? undefined : shallowText(value);
}

/** As `storableText`, of a value that is known not to nest deeply. */
export function shallowText(value: unknown): string {
  return JSON.stringify(value).replace(UNSTORABLE, (code) => (code === '\\\\' ? code : '\ufffd'));
}

/** Whether PostgreSQL can store a text of `JSON.stringify` as jsonb: it escapes no NUL and no half of a surrogate pair. */
export function isStorableJson(json: string): boolean {
  return !json.match(UNSTORABLE)?.some((code) => code !== '\\\\');
}

/** JSON.stringify escapes these. A pair of backslashes matches too, so that its second one does not begin an escape. */
const UNSTORABLE = /\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g;

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
