import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Content, Entry } from '../kind.ts';

/** One difference between two entries. `before` is absent for what is added, `after` for what goes. */
export interface Difference {
  /** Where: `temperature`, `tools[search].requiresApproval`, `knowledge.md`. */
  field: string;
  before?: JsonValue;
  after?: JsonValue;
  /** The content of a file: the values are digests. */
  isContent?: true;
}

/** What differs between the entry on the service and that of the files. Empty when they are the same. */
export function differencesOf(before: Entry, after: Entry): Difference[] {
  return [
    ...(before.name === after.name ? [] : [{ field: 'name', before: before.name, after: after.name }]),
    ...objectDifferences('', before.fields, after.fields),
    ...contentDifferences(before.files, after.files),
  ];
}

/** Everything that a new entry has. */
export function additionsOf(entry: Entry): Difference[] {
  return differencesOf({ ...entry, fields: {}, files: {} }, entry);
}

function objectDifferences(around: string, before: JsonObject, after: JsonObject): Difference[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) => {
    const field = around === '' ? name : `${around}.${name}`;
    return valueDifferences(field, own(before, name), own(after, name));
  });
}

function valueDifferences(field: string, before: JsonValue | undefined, after: JsonValue | undefined): Difference[] {
  if (isSame(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return objectDifferences(field, before, after);
  const lists = [before ?? [], after ?? []];
  if (lists.every((list): list is JsonValue[] => Array.isArray(list)) && (before !== undefined || lists[1]?.length)) {
    const [from, to] = lists as [JsonValue[], JsonValue[]];
    const keyed = keyedDifferences(field, from, to);
    if (keyed) return keyed;
  }
  return [{ field, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** Items that have names are compared by them; undefined when some have none, or two have the same. */
function keyedDifferences(field: string, before: JsonValue[], after: JsonValue[]): Difference[] | undefined {
  const [from, to] = [byKey(before), byKey(after)];
  if (!from || !to) return undefined;
  const keys = [...new Set([...to.keys(), ...from.keys()])];
  const items = keys.flatMap((key) => {
    const [old, wanted] = [from.get(key), to.get(key)];
    const place = `${field}[${key}]`;
    if (old === undefined || wanted === undefined) {
      if (old === undefined && wanted === undefined) return [];
      return [
        { field: place, ...(old !== undefined && { before: old }), ...(wanted !== undefined && { after: wanted }) },
      ];
    }
    return valueDifferences(place, old, wanted);
  });
  const common = (map: Map<string, JsonValue>, other: Map<string, JsonValue>) =>
    [...map.keys()].filter((key) => other.has(key));
  const [order, wanted] = [common(from, to), common(to, from)];
  const moved = order.join('\0') !== wanted.join('\0');
  return moved ? [...items, { field: `${field} (order)`, before: order, after: wanted }] : items;
}

function byKey(list: JsonValue[]): Map<string, JsonValue> | undefined {
  const items = new Map<string, JsonValue>();
  for (const item of list) {
    const key = typeof item === 'string' ? item : keyOf(item);
    if (key === undefined || items.has(key)) return undefined;
    items.set(key, item);
  }
  return items;
}

/** What tells an item of a list from the others, for people: its name, and the toolkit of a connection. */
function keyOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const name = item.name ?? item.type ?? item.label ?? item.url;
  if (typeof name !== 'string') return undefined;
  return typeof item.toolkit === 'string' ? `${item.toolkit}/${name}` : name;
}

function contentDifferences(before: Record<string, Content>, after: Record<string, Content>): Difference[] {
  const paths = [...new Set([...Object.keys(after), ...Object.keys(before)])].sort();
  return paths.flatMap((field): Difference[] => {
    const [old, wanted] = [own(before, field), own(after, field)];
    // What is not known equals everything.
    if (old && wanted && (old.sha256 === undefined || wanted.sha256 === undefined || old.sha256 === wanted.sha256))
      return [];
    return [
      {
        field,
        isContent: true,
        ...(old && { before: old.sha256 ?? '' }),
        ...(wanted && { after: wanted.sha256 ?? '' }),
      },
    ];
  });
}

function own<Value>(map: { [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Whether two values are equal; the order of fields does not count. */
export function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => isSame(item, right[index]));
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  );
}
