import { pointerKey } from '../../core/jsonPointer.ts';
import { ownTurn } from '../../core/ownTurn.ts';
import type { JsonSchema } from '../tools/tool.ts';

/*
 * A provider refuses the whole request when it does not accept one schema in it, so one tool of a third party's server could silence an
 * agent. The schemas that models are told about are therefore changed until all providers accept them. The tool or its server still
 * checks the inputs against the original schema.
 * - OpenAI wants `properties` in an object and `items` in an array.
 * - OpenAI and Anthropic refuse anyOf, oneOf, allOf, enum and not at the top.
 * - Anthropic refuses names of properties that do not match ^[a-zA-Z0-9_.-]{1,64}$.
 * - Google refuses `required` names that are no properties, and `$schema` within a schema.
 * - Anthropic reads 2020-12, in which a list of schemas is `prefixItems` and not `items`.
 * - The AI SDK's OpenAI package throws on `propertyNames` that are no strings.
 */

const KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
const MAX_KEY = 64;
/** Schemas of tools nest less: deeper ones are refused when they are stored. */
const MAX_DEPTH = 33;
/** Schemas whose properties are gathered at the top. */
const MAX_GATHERED = 200;
/** Characters of a schema that models are told about: as many as tools of the workspace may have. A server may list one of 512 KiB. */
const MAX_TOLD = 32_768;
/** Characters of schemas that are changed in one turn of the event loop: some milliseconds. */
const STRETCH = 32_768;

interface ModelSchema {
  schema: JsonSchema;
  /** Names of inputs that the model knows, each with the name that the tool knows. Equal names are left out. */
  renamed: ReadonlyMap<string, string>;
}

const modelSchemas = new WeakMap<JsonSchema, ModelSchema>();

/** The schema of a tool's inputs, as models are told about it. */
export function schemaForModel(schema: JsonSchema): JsonSchema {
  return modelSchemaOf(schema).schema;
}

/** Makes what `schemaForModel` returns, before it is asked for at once for many tools. Lets others have their turn meanwhile. */
export async function prepareModelSchemas(schemas: Iterable<JsonSchema>): Promise<void> {
  let stretch = 0;
  for (const schema of schemas) {
    if (modelSchemas.has(schema)) continue;
    stretch += charactersOf(schema);
    modelSchemaOf(schema);
    if (stretch < STRETCH) continue;
    stretch = 0;
    await ownTurn();
  }
}

/** The input of a model that was given `schemaForModel`, under the names that the tool knows. */
export function inputFromModel(schema: JsonSchema, input: Record<string, unknown>): Record<string, unknown> {
  const { renamed } = modelSchemaOf(schema);
  if (renamed.size === 0) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [renamed.get(key) ?? key, value]));
}

function modelSchemaOf(schema: JsonSchema): ModelSchema {
  const known = modelSchemas.get(schema);
  if (known) return known;
  const fresh = makeModelSchema(schema);
  modelSchemas.set(schema, fresh);
  return fresh;
}

/** Characters of a schema as JSON; infinite when it nests too deeply to be written. */
function charactersOf(schema: JsonSchema): number {
  try {
    return JSON.stringify(schema).length;
  } catch (error) {
    if (error instanceof RangeError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

function makeModelSchema(schema: JsonSchema): ModelSchema {
  // The tool is called all the same: its description may say with what.
  if (charactersOf(schema) > MAX_TOLD) return { schema: { type: 'object', properties: {} }, renamed: new Map() };
  const gathered: GatheredProperties = { properties: new Map(), required: new Set(), seen: new Set() };
  gather(schema, schema, gathered, true);
  const { $ref, allOf, anyOf, oneOf, not, enum: values, const: value, required, ...rest } = schema;
  const renamed = new Map<string, string>();
  const properties: Record<string, unknown> = {};
  const newNames = new Map<string, string>();
  // Names that stay as they are come first, so that no changed name becomes equal to one of them.
  const names = [...gathered.properties.keys()];
  const freeKey = keyMaker(names.filter((name) => KEY.test(name)));
  for (const name of names) {
    const newName = KEY.test(name) ? name : freeKey(name);
    if (newName !== name) renamed.set(newName, name);
    newNames.set(name, newName);
    Object.defineProperty(properties, newName, {
      value: tidy(gathered.properties.get(name), 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  const needed = [...gathered.required].flatMap((name) => newNames.get(name) ?? []);
  const top = tidy({ ...rest, properties: {} }, 0) as JsonSchema;
  return {
    schema: { ...top, type: 'object', properties, ...(needed.length > 0 ? { required: needed } : {}) },
    renamed,
  };
}

interface GatheredProperties {
  properties: Map<string, unknown>;
  required: Set<string>;
  /** References can be circular, and can lead to one schema in very many ways. */
  seen: Set<JsonSchema>;
}

/** Gathers all properties that an object of the schema may have. `always`: every object must fit this part of the schema. */
function gather(root: JsonSchema, node: unknown, gathered: GatheredProperties, always: boolean): void {
  if (!isSchema(node) || gathered.seen.has(node) || gathered.seen.size > MAX_GATHERED) return;
  gathered.seen.add(node);
  const { $ref, properties, required, allOf, anyOf, oneOf } = node;
  for (const [name, inner] of Object.entries(isSchema(properties) ? properties : {})) {
    if (!gathered.properties.has(name) && inner !== false) gathered.properties.set(name, inner);
  }
  if (always && Array.isArray(required)) {
    for (const name of required) if (typeof name === 'string') gathered.required.add(name);
  }
  if (typeof $ref === 'string') gather(root, at(root, $ref), gathered, always);
  for (const each of Array.isArray(allOf) ? allOf : []) gather(root, each, gathered, always);
  for (const each of [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))) {
    gather(root, each, gathered, false);
  }
}

/** The target of a reference within the schema (RFC 6901, as a URI fragment). */
function at(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/');
  return steps.reduce<unknown>((node, step) => {
    const key = pointerKey(step);
    return isSchema(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }, root);
}

/** Makes keys that providers accept, each once, and none of `used`. */
function keyMaker(used: readonly string[]): (name: string) => string {
  const taken = new Set(used);
  /** How often a key was wished for: a server may list thousands of names that become one. */
  const wishes = new Map<string, number>();
  return (name) => {
    const plain = name.replace(/[^a-zA-Z0-9_.-]+/g, '_').slice(0, MAX_KEY);
    for (let count = (wishes.get(plain) ?? 0) + 1; ; count += 1) {
      const suffix = count === 1 ? '' : `_${count}`;
      const key = plain.slice(0, MAX_KEY - suffix.length) + suffix;
      if (taken.has(key)) continue;
      taken.add(key);
      wishes.set(plain, count);
      return key;
    }
  };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const INNER = ['items', 'additionalProperties', 'not', 'contains', 'if', 'then', 'else', 'propertyNames'];
const INNER_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const INNER_MAPS = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];

/** The schema with `items` in every array and `properties` in every object, in keywords that all providers know. */
function tidy(schema: unknown, depth: number): unknown {
  if (schema === true || depth > MAX_DEPTH) return {};
  if (!isSchema(schema)) return schema;
  const { $schema: _dialect, ...copy }: JsonSchema = schema;
  if (Array.isArray(copy.items)) {
    copy.prefixItems = copy.items;
    copy.items = isSchema(copy.additionalItems) ? copy.additionalItems : {};
    delete copy.additionalItems;
  }
  if (typeof copy.items === 'boolean') copy.items = {};
  if (!namesAreStrings(copy.propertyNames)) delete copy.propertyNames;
  for (const key of INNER) if (isSchema(copy[key])) copy[key] = tidy(copy[key], depth + 1);
  for (const key of INNER_LISTS) {
    const list = copy[key];
    if (Array.isArray(list)) copy[key] = list.map((each) => tidy(each, depth + 1));
  }
  for (const key of INNER_MAPS) {
    const map = copy[key];
    if (isSchema(map)) {
      copy[key] = Object.fromEntries(Object.entries(map).map(([name, each]) => [name, tidy(each, depth + 1)]));
    }
  }
  if (hasType(copy, 'array') && !Object.hasOwn(copy, 'items')) copy.items = {};
  if (hasType(copy, 'object') && !isSchema(copy.properties)) copy.properties = {};
  return copy;
}

function namesAreStrings(names: unknown): boolean {
  return isSchema(names) && (names.type === undefined || names.type === 'string');
}

function hasType({ type }: JsonSchema, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}
