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

/** JSON with the properties of each object in the order of their names: equal for values that differ in this order only. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
