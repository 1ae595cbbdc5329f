import { isSame } from '../compare/differences.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** An item of a list in agent.yaml, told from the others by its name. */
export interface NamedItem extends JsonObject {
  name: string;
}

/** The items of a list; none when the field is absent. */
export function itemsIn(value: JsonValue | undefined): NamedItem[] {
  return Array.isArray(value) ? value.filter((item): item is NamedItem => isJsonObject(item)) : [];
}

/** A list sorted by name; undefined when it is empty. */
export function sortedItems(items: readonly NamedItem[]): NamedItem[] | undefined {
  if (items.length === 0) return undefined;
  return items.toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
}

/** What has to happen so that `before` becomes `after`. */
export interface ItemChanges {
  added: NamedItem[];
  changed: { before: NamedItem; after: NamedItem }[];
  removed: NamedItem[];
}

/** Compares two lists by the names of their items. */
export function itemChanges(before: JsonValue | undefined, after: JsonValue | undefined): ItemChanges {
  const old = new Map(itemsIn(before).map((item) => [item.name, item]));
  const wanted = new Map(itemsIn(after).map((item) => [item.name, item]));
  const changes: ItemChanges = { added: [], changed: [], removed: [] };
  for (const item of wanted.values()) {
    const former = old.get(item.name);
    if (!former) changes.added.push(item);
    else if (!isSame(former, item)) changes.changed.push({ before: former, after: item });
  }
  for (const item of old.values()) if (!wanted.has(item.name)) changes.removed.push(item);
  return changes;
}

/** `after` with the items that only `before` has, at the end. */
export function withKept(before: JsonValue | undefined, after: JsonValue | undefined): JsonValue | undefined {
  const { removed } = itemChanges(before, after);
  return removed.length === 0 ? after : [...itemsIn(after), ...removed];
}

/** A name alone stands for an item that has nothing else to say. */
export function shortened(items: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(items)) return items;
  return items.map((item) => (isJsonObject(item) && Object.keys(item).length === 1 ? (item.name ?? item) : item));
}

/** The way back: every item an object, sorted by name. */
export function spelledOut(value: JsonValue | undefined): NamedItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return sortedItems(value.map((item) => (typeof item === 'string' ? { name: item } : (item as NamedItem))));
}
