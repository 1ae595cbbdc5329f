import { documentSchema, type SchemaName } from '../../../core/namedSchemas.ts';

/** One value of a form at the edge of a keyword of its schema, or just beyond it. */
export interface Edge {
  /** The place in the form and the keyword, such as `auth/secret maxLength 8192`. */
  what: string;
  /** JSON Pointer of what the keyword is about, below the form. */
  pointer: string;
  form: Record<string, unknown>;
  isAllowed: boolean;
}

/** What the edges of a schema are made from. */
export interface EdgeParts {
  /** A form that is accepted, with a value for every field. */
  valid: Record<string, unknown>;
  /** A text of this length for a place, where not every text will do. */
  texts?: Record<string, (length: number) => string>;
  /** A value with this many characters as JSON for a place, where not every value will do. */
  documents?: Record<string, (length: number) => unknown>;
  /** A text for a place that its pattern refuses. */
  unlike?: Record<string, string>;
  /** The whole form for a value of a place that goes with values of other places only. Undefined: no form may have the value. */
  around?: Record<string, (value: unknown) => Record<string, unknown> | undefined>;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  not?: { type: string[] };
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: { pattern: string };
  items?: Schema;
  if?: Schema;
  then?: Schema;
  else?: Schema;
  pattern?: string;
  [keyword: string]: unknown;
}

/** Keywords that `schemaEdges` tries or that refuse nothing. A schema with another one is an error: it would not be tried. */
const KNOWN = new Set(
  '$ref type enum const not anyOf properties required additionalProperties propertyNames items if then else pattern minLength maxLength minimum maximum minItems maxItems uniqueItems maxProperties x-max-json-length description examples format'.split(
    ' ',
  ),
);

function resolve(schema: Schema): Schema {
  if (schema.$ref) return resolve(documentSchema(schema.$ref.split('/').at(-1) as SchemaName) as Schema);
  // A schema or null.
  const [first, second] = schema.anyOf ?? [];
  if (first && second?.type !== 'null') throw new Error('anyOf is for a schema or null');
  if (!first) return schema;
  const named = resolve(first);
  return {
    ...named,
    type: [named.type ?? 'string', 'null'].flat(),
    ...(named.enum && { enum: [...named.enum, null] }),
  };
}

function withValue(base: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value;
  if (Array.isArray(base)) return base.map((item, i) => (String(i) === first ? withValue(item, rest, value) : item));
  return {
    ...(base as object),
    [first]: withValue((base as Record<string, unknown> | undefined)?.[first], rest, value),
  };
}

const WRONG: [type: string, value: unknown][] = [
  ['object', { a: 1 }],
  ['array', [{}]],
  ['string', 'x'],
  ['number', 1.5],
  ['boolean', true],
  ['null', null],
];

/** A form at the edge of every keyword of its schema and beyond it: of the schema itself and of all schemas in it. */
export function schemaEdges(
  name: SchemaName,
  { valid, texts = {}, documents = {}, unlike = {}, around = {} }: EdgeParts,
): Edge[] {
  const edges: Edge[] = [];

  function add(place: readonly string[], keyword: string, value: unknown, isAllowed: boolean, at = place): void {
    const made = around[place.join('/')];
    const form = isAllowed && made ? made(value) : withValue(valid, place, value);
    const pointer = at.map((step) => `/${step}`).join('');
    if (form)
      edges.push({ what: `${place.join('/')} ${keyword}`.trim(), pointer, form: form as Edge['form'], isAllowed });
  }

  function walk(given: Schema, place: readonly string[], present: unknown): void {
    const schema = resolve(given);
    // An open object in a form has edges of its own.
    if (schema['x-schemas']) return;
    const unknown = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword));
    if (unknown.length > 0) throw new Error(`No edges for ${place.join('/')} ${unknown.join()}`);
    const key = place.join('/');
    const types = schema.type === undefined ? undefined : [schema.type].flat();
    const text = texts[key] ?? ((length: number) => 'x'.repeat(length));
    const document = documents[key] ?? ((length: number) => ({ a: 'x'.repeat(length - 8) }));
    const both = (keyword: string, most: number, make: (count: number) => unknown, beyond = most + 1) => {
      add(place, `${keyword} ${most}`, make(most), true);
      add(place, `${keyword} ${most}, beyond`, make(beyond), false);
    };

    if (types && place.length > 0)
      for (const [type, value] of WRONG) if (!types.includes(type)) add(place, `type ${type}`, value, false);
    if (types?.includes('integer'))
      both('type integer', Number(schema.minimum), (n) => n, Number(schema.minimum) + 0.5);
    if (types?.includes('null')) add(place, 'null', null, true);
    if (schema.enum) {
      for (const value of schema.enum) add(place, `enum ${value}`, value, true);
      add(place, 'enum, beyond', 'no such value', false);
    }
    if ('const' in schema) add(place, 'const, beyond', 'no such value', false);
    // `not` some types: a value of any other is allowed.
    for (const [type, value] of schema.not ? WRONG : [])
      add(place, `not ${type}`, value, !schema.not?.type.includes(type));
    if (schema.maxLength !== undefined) both('maxLength', Number(schema.maxLength), text);
    if (schema.minLength !== undefined) both('minLength', Number(schema.minLength), text, Number(schema.minLength) - 1);
    if (schema.pattern !== undefined) add(place, 'pattern, beyond', unlike[key], false);
    if (schema.maximum !== undefined) both('maximum', Number(schema.maximum), (n) => n);
    if (schema.minimum !== undefined) both('minimum', Number(schema.minimum), (n) => n, Number(schema.minimum) - 1);
    if (schema['x-max-json-length'] !== undefined)
      both('x-max-json-length', Number(schema['x-max-json-length']), document);

    const [item] = Array.isArray(present) ? present : [];
    const list = (length: number) =>
      Array.from({ length }, (_, i) => (i === 0 || typeof item === 'object' ? item : `${item}${i}`));
    if (schema.maxItems !== undefined) both('maxItems', Number(schema.maxItems), list);
    if (schema.minItems !== undefined) both('minItems', Number(schema.minItems), list, Number(schema.minItems) - 1);
    if (schema.uniqueItems) add(place, 'uniqueItems, beyond', [item, item], false);
    if (schema.items) walk(schema.items, [...place, '0'], item);

    const fields =
      typeof present === 'object' && present !== null && !Array.isArray(present) ? Object.entries(present) : [];
    const [field, inner] = fields[0] ?? [];
    const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, inner]));
    if (schema.maxProperties !== undefined) both('maxProperties', Number(schema.maxProperties), named);
    if (schema.propertyNames) {
      const wrong = unlike[`${key}/*`] ?? '';
      add([...place, wrong], `propertyNames ${schema.propertyNames.pattern}, beyond`, inner, false);
    }
    if (schema.additionalProperties === false) add([...place, 'surprise'], 'is unknown', 1, false);
    if (typeof schema.additionalProperties === 'object' && field !== undefined)
      walk(schema.additionalProperties, [...place, field], inner);
    for (const required of schema.required ?? []) add([...place, required], 'required, beyond', undefined, false);
    for (const [property, each] of Object.entries(schema.properties ?? {})) {
      const value = (present as Record<string, unknown>)[property];
      if (value === undefined) throw new Error(`The valid form has no ${[...place, property].join('/')}`);
      walk(each, [...place, property], value);
    }
    // `if` a text: what bounds a text, and what bounds any other value.
    if (schema.if?.type === 'string') {
      if (schema.then?.maxLength !== undefined) both('then maxLength', Number(schema.then.maxLength), text);
      if (schema.else) walk(schema.else, place, present);
    }
  }

  walk(documentSchema(name) as Schema, [], valid);
  return edges;
}
