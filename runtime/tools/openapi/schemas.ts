import type { JsonSchema } from '../tool.ts';
import { BadDocument, type Fields, isFields, stepsOf, valueAt } from './document.ts';
import { fieldText } from './texts.ts';

type Steps = (string | number)[];

/** Keywords whose value is a schema, a list of them, or schemas by name. */
const SCHEMA = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const MAP = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);
/** Keywords that say nothing to a validator or a model, and those that would change how references are resolved. */
const DROPPED = new Set([
  '__proto__',
  '$anchor',
  '$async',
  '$comment',
  '$dynamicAnchor',
  '$id',
  '$schema',
  '$vocabulary',
  'id',
  'discriminator',
  'example',
  'examples',
  'externalDocs',
  'nullable',
  'xml',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'deprecated',
  'readOnly',
  'title',
  'writeOnly',
]);
/** A bound that is there for the sake of a database: no model writes as much by mistake, and the API checks it too. */
const LOOSE_LENGTH = 1_000;
/** Names of fields that stand for the schema of an object that is left out. */
const MAX_NAMED_FIELDS = 30;

function isPattern(text: unknown): boolean {
  if (typeof text !== 'string' || text.length > 1_000) return false;
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

/** The bounds of a number. In OpenAPI 3.0 `exclusiveMinimum: true` excludes `minimum`; in JSON Schema it is the bound itself. */
function bounds(schema: Fields): Fields {
  const made: Fields = {};
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (Number.isFinite(schema[exclusive])) made[exclusive] = schema[exclusive];
    if (schema[exclusive] !== true || typeof schema[inclusive] !== 'number') continue;
    made[exclusive] = schema[inclusive];
    made[inclusive] = undefined;
  }
  return made;
}

function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: allowed, ...rest } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...rest, type: [type, 'null'], ...(Array.isArray(allowed) ? { enum: [...allowed, null] } : {}) };
}

/** Levels of schemas within each other, without references. A validator takes no more than 32. */
const MAX_NESTING = 64;

/** The schemas are larger than the collector was allowed to convert. */
export class TooMuchSchema extends Error {}

/** How much of the schemas is kept. */
export interface SchemaDetail {
  /** Objects within objects, those of references included. Of a deeper one only the names of its fields remain, in its description. */
  levels: number;
  /** References that are followed one after the other. */
  references: number;
  /** Characters of the description of an input, and of its fields. */
  descriptionChars: number;
  /** Values of an `enum`. One with more of them is left out. */
  enumValues: number;
  /** Characters that are converted at most. */
  maxChars: number;
}

/**
 * Converts schemas of a document into self-contained JSON Schema 2020-12: `$defs` has the schemas that they refer to. What says nothing to
 * a model is left out: examples, extensions, titles, deprecated fields that are not required, fields of responses.
 */
export class SchemaCollector {
  readonly #document: Fields;
  readonly #detail: SchemaDetail;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #queue: { name: string; steps: string[]; level: number; references: number }[] = [];

  #charsLeft: number;
  #nesting = 0;
  /** The references that led to what is being converted. */
  #followed = 0;

  constructor(document: Fields, detail: SchemaDetail) {
    this.#document = document;
    this.#detail = detail;
    this.#charsLeft = detail.maxChars;
  }

  /**
   * One schema. Throws BadDocument for a reference that leads out of the document, or to nothing, and for schemas that nest too deeply;
   * TooMuchSchema when about `maxChars` characters were converted.
   */
  convert(schema: unknown, steps: Steps, level = 0): JsonSchema {
    if (this.#nesting >= MAX_NESTING) throw new BadDocument(`must not nest deeper than ${MAX_NESTING} levels`, steps);
    this.#nesting += 1;
    try {
      return this.#converted(schema, steps, level);
    } finally {
      this.#nesting -= 1;
    }
  }

  #converted(schema: unknown, steps: Steps, level: number): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isFields(schema)) {
      if (schema === true || schema === undefined) return {};
      throw new BadDocument('must be a schema', steps);
    }
    if (schema.$dynamicRef !== undefined) throw new BadDocument('is not supported', [...steps, '$dynamicRef']);
    if (level > this.#detail.levels && isFields(schema.properties)) return this.#outline(schema, level);
    const made: JsonSchema = {};
    for (const [key, value] of Object.entries(schema)) {
      this.#spend(key.length);
      const at = [...steps, key];
      if (key === '$ref') Object.assign(made, this.#reference(value, steps, level));
      else if (DROPPED.has(key) || key.startsWith('x-')) continue;
      else if (key === 'description') Object.assign(made, this.#description(value, level));
      else if (key === 'pattern') Object.assign(made, isPattern(value) ? { pattern: value } : {});
      else if (SCHEMA.has(key) && (typeof value === 'boolean' || isFields(value))) {
        made[key] = typeof value === 'boolean' ? value : this.convert(value, at, this.#within(key, level));
      } else if (LIST.has(key) && Array.isArray(value)) {
        made[key] = value.map((each, index) => this.convert(each, [...at, index], level));
      } else if (MAP.has(key) && isFields(value)) made[key] = this.#map(key, value, at, this.#within(key, level));
      else if (!this.#isLoose(key, value) && this.#isJson(value)) made[key] = value;
    }
    this.#withoutUnused(schema, made);
    for (const [key, value] of Object.entries(bounds(schema))) {
      if (value === undefined) delete made[key];
      else made[key] = value;
    }
    const isNullable = schema.nullable === true || schema['x-nullable'] === true;
    return isNullable && typeof schema.$ref !== 'string' ? withNull(made) : made;
  }

  /** The schemas that the converted ones refer to, by their names in `$defs`. */
  definitions(): Record<string, JsonSchema> {
    const definitions: [string, JsonSchema][] = [];
    // It grows while it is walked.
    for (const next of this.#queue) {
      this.#followed = next.references;
      definitions.push([next.name, this.convert(valueAt(this.#document, next.steps), next.steps, next.level)]);
    }
    return Object.fromEntries(definitions);
  }

  #spend(chars: number): void {
    this.#charsLeft -= chars + 1;
    if (this.#charsLeft < 0) throw new TooMuchSchema();
  }

  /**
   * Spends a value that is data. It is walked, so that no more of it is read than may be spent. Whether it can be stored: `.inf` and `1e400` are
   * numbers that JSON has not. As a bound they say nothing.
   */
  #isJson(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) {
      this.#spend(String(value).length);
      return typeof value !== 'number' || Number.isFinite(value);
    }
    return Object.entries(value).every(([key, inner]) => {
      this.#spend(key.length);
      return this.#isJson(inner);
    });
  }

  #within(key: string, level: number): number {
    return key === 'properties' || key === 'patternProperties' || key === 'additionalProperties' ? level + 1 : level;
  }

  #isLoose(key: string, value: unknown): boolean {
    if (key === 'maxLength') return typeof value === 'number' && value >= LOOSE_LENGTH;
    return key === 'enum' && Array.isArray(value) && value.length > this.#detail.enumValues;
  }

  #description(value: unknown, level: number): JsonSchema {
    const { descriptionChars } = this.#detail;
    const description = fieldText(value, level <= 1 ? descriptionChars : Math.floor(descriptionChars / 2));
    this.#spend(description.length);
    return description === '' ? {} : { description };
  }

  /** An object of which only the names of its fields are told. It accepts all that the API may accept. */
  #outline(schema: Fields, level: number): JsonSchema {
    if (!isFields(schema.properties)) return this.#description(schema.description, level);
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const fields = Object.entries(schema.properties)
      .filter(([, each]) => isFields(each) && each.readOnly !== true && each.deprecated !== true)
      .map(([name]) => (required.has(name) ? `${name} (required)` : name));
    const shown = fields.slice(0, MAX_NAMED_FIELDS).join(', ');
    const { description = '' } = this.#description(schema.description, level);
    const told = fields.length === 0 ? '' : `Fields: ${shown}${fields.length > MAX_NAMED_FIELDS ? ', …' : ''}.`;
    const text = [description, told].filter((each) => each !== '').join(' ');
    this.#spend(text.length);
    return {
      type: schema.nullable === true ? ['object', 'null'] : 'object',
      ...(text === '' ? {} : { description: text }),
    };
  }

  #map(key: string, schemas: Fields, at: Steps, level: number): Fields {
    const kept = Object.entries(schemas).filter(([name]) => key !== 'patternProperties' || isPattern(name));
    return Object.fromEntries(
      kept.map(([name, each]) => {
        this.#spend(name.length);
        return [name, this.convert(each, [...at, name], level)];
      }),
    );
  }

  #reference(ref: unknown, at: Steps, level: number): JsonSchema {
    const text = String(ref);
    this.#spend(text.length);
    const steps = stepsOf(text, at);
    const target = valueAt(this.#document, steps);
    if (target === undefined) throw new BadDocument('refers to nothing', [...at, '$ref']);
    const key = JSON.stringify(steps);
    let name = this.#names.get(key);
    if (name === undefined) {
      const { levels, references } = this.#detail;
      if (level > levels || this.#followed >= references) return isFields(target) ? this.#outline(target, level) : {};
      const wish = (steps.at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '_') || 'document';
      name = wish;
      while (this.#taken.has(name)) {
        const count = this.#counts.get(wish) ?? 2;
        this.#counts.set(wish, count + 1);
        name = `${wish}_${count}`;
      }
      this.#taken.add(name);
      this.#names.set(key, name);
      this.#queue.push({ name, steps, level, references: this.#followed + 1 });
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** Removes the properties that only responses have, and those that nobody should use any more. */
  #withoutUnused(schema: Fields, made: JsonSchema): void {
    if (!isFields(schema.properties)) return;
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const unused = new Set<unknown>();
    for (const [name, property] of Object.entries(schema.properties)) {
      if (!isFields(property)) continue;
      if (property.readOnly === true || (property.deprecated === true && !required.has(name))) unused.add(name);
    }
    for (const name of unused) delete (made.properties as Fields)[String(name)];
    if (unused.size > 0 && Array.isArray(made.required))
      made.required = made.required.filter((name) => !unused.has(name));
  }
}
