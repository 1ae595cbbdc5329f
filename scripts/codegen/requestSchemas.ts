import type { Document } from '../../spec/rules/types.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Schemas = Record<string, Json>;

/**
 * The text of generated/requestSchemas.json: what requests may contain, by the names of the schemas, for clients that check or explain it
 * without the whole document. Each schema stands alone: what it refers to is part of it, and so are the schemas that it names under
 * `x-schemas` and `contentSchema`. Keywords of our own (`x-…`) are left out.
 * @throws Error when a schema contains itself
 */
export function requestSchemasJson(document: Document): string {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const whole: Schemas = {};
  for (const name of [...requestNames(document, schemas)].sort())
    whole[name] = expand(schemas, { $ref: refTo(name) }, []);
  return `${JSON.stringify(whole, null, 2)}\n`;
}

const PREFIX = '#/components/schemas/';
const refTo = (name: string): string => PREFIX + name;

/** The names that bodies refer to, and the names that those refer to by other words than `$ref`. */
function requestNames(document: Document, schemas: Schemas): Set<string> {
  const names = new Set<string>();
  const add = (name: string): void => {
    if (names.has(name)) return;
    names.add(name);
    namedIn(expand(schemas, { $ref: refTo(name) }, [], true), add);
  };
  for (const item of Object.values(document.paths ?? {}))
    for (const operation of Object.values(item as object))
      for (const { schema } of Object.values<{ schema?: { $ref?: string } }>(operation?.requestBody?.content ?? {}))
        if (schema?.$ref) add(nameOf(schema.$ref));
  return names;
}

function namedIn(value: Json, add: (name: string) => void): void {
  if (Array.isArray(value)) for (const item of value) namedIn(item, add);
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'x-schemas' || key === 'contentSchema') refsIn(inner, add);
      else namedIn(inner, add);
    }
}

function refsIn(value: Json, add: (name: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    if (key === '$ref' && typeof inner === 'string') add(nameOf(inner));
    else refsIn(inner, add);
}

function nameOf(ref: string): string {
  return ref.slice(PREFIX.length);
}

/** The value with every schema that it refers to in its place. With `own` our keywords stay as they are. */
function expand(schemas: Schemas, value: Json, inside: readonly string[], own = false): Json {
  if (Array.isArray(value)) return value.map((item) => expand(schemas, item, inside, own));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value;
  const made: Record<string, Json> = {};
  if (typeof $ref === 'string') {
    const name = nameOf($ref);
    if (inside.includes(name))
      throw new Error(`${name}: contains itself, which generated/requestSchemas.json cannot show`);
    Object.assign(made, expand(schemas, schemas[name] ?? {}, [...inside, name], own));
  }
  for (const [key, inner] of Object.entries(rest)) {
    const isOwn = key.startsWith('x-') || key === 'contentSchema';
    if (isOwn && !own) continue;
    made[key] = isOwn ? inner : expand(schemas, inner, inside, own);
  }
  return made;
}
