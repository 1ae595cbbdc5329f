import { isSame } from '../compare/differences.ts';
import { sha256 } from '../digest.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Content, Entry } from '../kind.ts';

/** What has fields: an entry, or a part of one. */
type Fielded = Pick<Entry, 'fields'>;

/** A text as files have it: `\n` as line end; an empty one is none, since the service takes no `null` where a text stands. */
export function textOf(value: string | null | undefined): string | undefined {
  return value ? value.replaceAll('\r\n', '\n') : undefined;
}

/** The items of a list that the service gives newest first, oldest first. One that moved to the next page meanwhile is there once. */
export async function oldestFirst<Item extends { publicId: string }>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found = new Map<string, Item>();
  for await (const item of items) found.set(item.publicId, item);
  return [...found.values()].reverse();
}

/** The value at a path of field names; undefined where there is none. */
export function valueAt(value: JsonValue | undefined, path: readonly (string | number)[]): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as JsonObject)[step];
  }
  return at;
}

/** Whether a field has another value in the two entries. The order of the fields of an object does not count. */
export function differs(before: Fielded | undefined, after: Fielded, ...path: string[]): boolean {
  return !isSame(valueAt(before?.fields, path), valueAt(after.fields, path));
}

/**
 * The fields that differ, as the body of a change: with the value of `after`, or else the value of `cleared`. Fields that are in neither of the
 * two are left out: the service cannot clear them.
 */
export function changesOf(
  before: Fielded | undefined,
  after: Fielded,
  names: readonly string[],
  cleared: Readonly<Record<string, JsonValue>> = {},
): Record<string, JsonValue> {
  const body: Record<string, JsonValue> = {};
  for (const name of names) {
    if (!differs(before, after, name)) continue;
    const value = valueAt(after.fields, [name]) ?? cleared[name];
    if (value !== undefined) body[name] = value;
  }
  return body;
}

/** Why a field that the service cannot clear must keep a value; undefined when none of these goes. */
export function clearingRefusal(before: Fielded, after: Fielded, names: readonly string[]): string | undefined {
  const gone = names.filter(
    (name) => valueAt(before.fields, [name]) !== undefined && !Object.hasOwn(after.fields, name),
  );
  return gone.length === 0 ? undefined : `${listed(gone)} cannot be taken away through the API, only changed`;
}

/** Why fields that never change must stay; undefined when all of these do. */
export function fixedRefusal(before: Fielded, after: Fielded, names: readonly string[]): string | undefined {
  const changed = names.filter((name) => differs(before, after, name));
  return changed.length === 0 ? undefined : `${listed(changed)} cannot change once it exists`;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

/** The bytes of a content with their digest. */
export function contentOf(bytes: Uint8Array): Content & { sha256: string; bytes: Uint8Array } {
  return { sha256: sha256(bytes), bytes };
}
