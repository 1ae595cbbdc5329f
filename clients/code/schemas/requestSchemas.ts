import schemas from '../../../generated/requestSchemas.json' with { type: 'json' };
import type { JsonObject } from '../json.ts';

/** Name of a schema of the document that says what a request may contain. */
export type RequestSchemaName = keyof typeof schemas;

/** The schema, whole: it refers to nothing outside of it. The caller may change what it gets. */
export function requestSchema(name: RequestSchemaName): JsonObject {
  return structuredClone(schemas[name]) as unknown as JsonObject;
}

/** The schema of one property of a request. Throws when the request has no such property. */
export function propertySchema(name: RequestSchemaName, property: string): JsonObject {
  const found = propertiesOf(requestSchema(name))[property];
  if (found === undefined) throw new Error(`${name} has no property ${property}`);
  return found;
}

function propertiesOf(schema: JsonObject): Record<string, JsonObject> {
  return (schema.properties ?? {}) as Record<string, JsonObject>;
}

/**
 * The schema of a file from those of the requests that it becomes. `omit` are properties that files do not have, `properties` those that
 * they have beside, or instead. Required is what a creation (the first of the schemas) requires, without what is omitted, and `required`.
 */
export function fileSchema(
  names: readonly [RequestSchemaName, ...RequestSchemaName[]],
  {
    omit = [],
    properties = {},
    required = [],
  }: { omit?: readonly string[]; properties?: Record<string, JsonObject>; required?: readonly string[] } = {},
): JsonObject {
  // The first schema that has a property describes it: a creation often takes more than a change.
  const merged: Record<string, JsonObject> = {};
  for (const name of names)
    for (const [property, schema] of Object.entries(propertiesOf(requestSchema(name))))
      if (!omit.includes(property)) merged[property] ??= schema;
  const ofCreation = requestSchema(names[0]).required;
  const demanded = Array.isArray(ofCreation) ? ofCreation.filter((one): one is string => typeof one === 'string') : [];
  return {
    type: 'object',
    additionalProperties: false,
    required: [...new Set([...demanded.filter((one) => !omit.includes(one)), ...required])],
    properties: { ...merged, ...properties },
  };
}
