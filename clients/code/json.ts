/** What JSON and the YAML files can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** An object of JSON. */
export interface JsonObject {
  [name: string]: JsonValue;
}

/** Whether a value is an object, and neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The object without the fields that say what is so without them: null, undefined, false, an empty list or object, and those that equal
 * their entry in `defaults`. Both sides of a comparison go through it, so that a file may leave defaults out. The order of fields stays.
 */
export function withoutDefaults(
  object: Readonly<Record<string, JsonValue | undefined>>,
  defaults: Readonly<Record<string, JsonValue>> = {},
): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined || value === null) continue;
    if (Object.hasOwn(defaults, name)) {
      if (JSON.stringify(defaults[name]) === JSON.stringify(value)) continue;
    } else if (isEmpty(value)) continue;
    kept[name] = value;
  }
  return kept;
}

function isEmpty(value: JsonValue): boolean {
  return value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
