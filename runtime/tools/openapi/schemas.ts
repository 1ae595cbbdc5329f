import type { JsonSchema } from '../tool.ts';
import { BadDocument, type Fields, isFields, stepsOf, valueAt } from './document.ts';

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
]);

function isPattern(text: unknown): boolean {
  try {
    new RegExp(String(text), 'u');
    return String(text).length <= 1000;
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
    if (typeof schema[exclusive] === 'number') made[exclusive] = schema[exclusive];
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

/**
 * Converts schemas of a document into self-contained JSON Schema 2020-12: `$defs` has the schemas that they refer to. A
 * reference more than `maxDepth` references away from its start becomes a schema that accepts anything, so that a large
 * document gives a schema that a model can read.
 */
export class SchemaCollector {
  readonly #document: Fields;
  readonly #maxDepth: number;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #queue: { name: string; steps: string[]; depth: number }[] = [];

  #charsLeft: number;
  #nesting = 0;

  constructor(document: Fields, maxDepth: number, maxChars: number) {
    this.#document = document;
    this.#maxDepth = maxDepth;
    this.#charsLeft = maxChars;
  }

  /**
   * One schema. Throws BadDocument for a reference that leads out of the document, or to nothing, and for schemas that nest too deeply;
   * TooMuchSchema when about `maxChars` characters were converted.
   */
  convert(schema: unknown, steps: Steps, depth = 0): JsonSchema {
    if (this.#nesting >= MAX_NESTING) throw new BadDocument(`must not nest deeper than ${MAX_NESTING} levels`, steps);
    this.#nesting += 1;
    try {
      return this.#converted(schema, steps, depth);
    } finally {
      this.#nesting -= 1;
    }
  }

  #converted(schema: unknown, steps: Steps, depth: number): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isFields(schema)) {
      if (schema === true || schema === undefined) return {};
      throw new BadDocument('must be a schema', steps);
    }
    if (schema.$dynamicRef !== undefined) throw new BadDocument('is not supported', [...steps, '$dynamicRef']);
    const made: JsonSchema = {};
    for (const [key, value] of Object.entries(schema)) {
      this.#spend(key.length);
      const at = [...steps, key];
      if (key === '$ref') Object.assign(made, this.#reference(value, steps, depth));
      else if (DROPPED.has(key)) continue;
      else if (key === 'pattern') Object.assign(made, isPattern(value) ? { pattern: value } : {});
      else if (SCHEMA.has(key) && (typeof value === 'boolean' || isFields(value))) {
        made[key] = typeof value === 'boolean' ? value : this.convert(value, at, depth);
      } else if (LIST.has(key) && Array.isArray(value)) {
        made[key] = value.map((each, index) => this.convert(each, [...at, index], depth));
      } else if (MAP.has(key) && isFields(value)) made[key] = this.#map(key, value, at, depth);
      else {
        this.#spend(JSON.stringify(value)?.length ?? 0);
        made[key] = value;
      }
    }
    this.#withoutReadOnly(schema, made);
    for (const [key, value] of Object.entries(bounds(schema))) {
      if (value === undefined) delete made[key];
      else made[key] = value;
    }
    return schema.nullable === true && typeof schema.$ref !== 'string' ? withNull(made) : made;
  }

  /** The schemas that the converted ones refer to, by their names in `$defs`. */
  definitions(): Record<string, JsonSchema> {
    const definitions: [string, JsonSchema][] = [];
    // It grows while it is walked.
    for (const next of this.#queue) {
      definitions.push([next.name, this.convert(valueAt(this.#document, next.steps), next.steps, next.depth)]);
    }
    return Object.fromEntries(definitions);
  }

  #spend(chars: number): void {
    this.#charsLeft -= chars + 1;
    if (this.#charsLeft < 0) throw new TooMuchSchema();
  }

  #map(key: string, schemas: Fields, at: Steps, depth: number): Fields {
    const kept = Object.entries(schemas).filter(([name]) => key !== 'patternProperties' || isPattern(name));
    return Object.fromEntries(
      kept.map(([name, each]) => {
        this.#spend(name.length);
        return [name, this.convert(each, [...at, name], depth)];
      }),
    );
  }

  #reference(ref: unknown, at: Steps, depth: number): JsonSchema {
    this.#spend(String(ref).length);
    const steps = stepsOf(String(ref), at);
    if (valueAt(this.#document, steps) === undefined) throw new BadDocument('refers to nothing', [...at, '$ref']);
    const key = JSON.stringify(steps);
    let name = this.#names.get(key);
    if (name === undefined) {
      if (depth >= this.#maxDepth) return {};
      const wish = (steps.at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '_') || 'document';
      name = wish;
      while (this.#taken.has(name)) {
        const count = this.#counts.get(wish) ?? 2;
        this.#counts.set(wish, count + 1);
        name = `${wish}_${count}`;
      }
      this.#taken.add(name);
      this.#names.set(key, name);
      this.#queue.push({ name, steps, depth: depth + 1 });
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** Removes the properties that only responses have. */
  #withoutReadOnly(schema: Fields, made: JsonSchema): void {
    if (!isFields(schema.properties)) return;
    const readOnly = Object.entries(schema.properties)
      .filter(([, property]) => isFields(property) && property.readOnly === true)
      .map(([name]) => name);
    for (const name of readOnly) delete (made.properties as Fields)[name];
    if (readOnly.length > 0 && Array.isArray(made.required)) {
      made.required = made.required.filter((name) => !readOnly.includes(name));
    }
  }
}
