import type { Document, Schema } from '../../../spec/rules/types.ts';
import { component } from './argumentSchemas.ts';
import type { Hints } from './hints.ts';

/** Bounds that a model does not reach by accident are left out: those of numbers, long texts and lists beyond these. */
const MAX_NUMBER_SHOWN = 100_000;
const MAX_LENGTH_SHOWN = 2000;
const MAX_ITEMS_SHOWN = 50;

/** Texts this short have a form of their own, which says how long they are: colours, separators. */
const MIN_LENGTH_SHOWN = 10;

/** A pattern of names, which a model does not guess: `^[a-z][a-z0-9_]{0,49}$`. What others ask for plain sense or a hint says. */
const NAME_PATTERN = /^\^\[[A-Za-z0-9_-]+\][^\\]*\$$/;

/** What a schema is made for. */
export interface InputPlace {
  document: Document;
  hints: Hints;
  /** The hints that were taken: one that nobody takes is a fault. */
  taken: Set<string>;
  /** Whether null has a meaning of its own: in a change it clears a field, in a creation it is what an absent field is. */
  nulls: boolean;
}

/**
 * A schema of the document as a model reads it: whole, without references, and without what costs tokens and tells the writer of a value
 * nothing. What it lets through too much is refused before the call, which is checked against the document's own schema. `owner` is
 * the key of the hint about this place (`AgentUpdate.systemPrompt`), or undefined where there can be none.
 */
export function inputSchema(place: InputPlace, schema: Schema, owner?: string): Schema {
  const { name, ...whole } = merged(place.document, schema);
  const branches = whole.anyOf?.filter((each) => each.type !== 'null');
  if (branches?.length === 1 && branches[0] && whole.anyOf?.length === 2) {
    const { anyOf: _, ...rest } = whole;
    return nullable(place, inputSchema(place, { ...branches[0], ...rest }, owner));
  }
  const types = [whole.type ?? []].flat();
  const [type] = types.filter((each) => each !== 'null');
  const result: Schema = {};
  if (type !== undefined) result.type = type;
  if (whole.enum) result.enum = whole.enum.filter((each) => each !== null);
  const hint = owner === undefined ? undefined : place.hints.get(owner);
  if (owner !== undefined && hint !== undefined) {
    place.taken.add(owner);
    result.description = hint;
  }
  addBounds(result, whole);
  addMembers(place, result, whole, name ?? '');
  return types.includes('null') ? nullable(place, result) : result;
}

/** The parts of an object or array, and the shapes that an open object can have. */
function addMembers(place: InputPlace, result: Schema, whole: Schema, name: string): void {
  const shapes = Object.entries(whole['x-schemas']?.mapping ?? {})
    .map(([title, each]) => ({ title, ...inputSchema(place, each) }))
    .filter((each) => each.properties)
    .map(({ type: _, ...each }) => each);
  if (shapes.length > 0) result.anyOf = shapes;
  if (whole.items) result.items = inputSchema(place, whole.items);
  if (whole.properties) {
    const fields = Object.entries(whole.properties);
    result.properties = Object.fromEntries(
      fields.map(([key, each]) => [key, inputSchema(place, each, `${name}.${key}`)]),
    );
    if (whole.required?.length) result.required = whole.required;
  }
  if (typeof whole.additionalProperties === 'object') {
    const { maxLength: _, ...member } = inputSchema(place, whole.additionalProperties);
    result.additionalProperties = member;
  }
}

/** The schema behind a reference, with what stands beside the reference, the members of `allOf` taken in, and its name. */
export function merged(document: Document, schema: Schema): Schema & { name?: string } {
  const { $ref, allOf, ...own } = schema;
  const base =
    $ref === undefined ? {} : { ...merged(document, component(document, $ref)), name: $ref.split('/').at(-1) };
  const members = (allOf ?? []).map((each) => merged(document, each));
  return Object.assign({}, base, ...members, own);
}

function nullable({ nulls }: InputPlace, schema: Schema): Schema {
  if (!nulls || schema.type === undefined || Array.isArray(schema.type)) return schema;
  return { ...schema, type: [schema.type, 'null'], ...(schema.enum ? { enum: [...schema.enum, null] } : {}) };
}

function addBounds(result: Schema, whole: Schema): void {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = whole;
  if (typeof minimum === 'number' && minimum !== 0) result.minimum = minimum;
  if (typeof maximum === 'number' && maximum <= MAX_NUMBER_SHOWN) result.maximum = maximum;
  if (typeof minLength === 'number' && minLength > 1) result.minLength = minLength;
  if (typeof maxLength === 'number' && maxLength > MIN_LENGTH_SHOWN && maxLength <= MAX_LENGTH_SHOWN) {
    result.maxLength = maxLength;
  }
  if (typeof minItems === 'number' && minItems > 0) result.minItems = minItems;
  if (typeof maxItems === 'number' && maxItems <= MAX_ITEMS_SHOWN) result.maxItems = maxItems;
  if (typeof pattern === 'string' && NAME_PATTERN.test(pattern)) result.pattern = pattern;
  if (format === 'date-time') result.format = format;
}
