import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { ErrorDetail } from '../../../core/errors.ts';
import { below, distinct, faultAt, toFaults } from '../../../core/faults.ts';
import { lruCache } from '../../../core/lruCache.ts';
import type { JsonSchema } from '../tool.ts';

const addFormats = addFormatsModule.default;

const MAX_DEPTH = 32;
const MAX_PATTERN_CHARS = 1_000;
const MAX_VALIDATORS = 50;

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
/** Keywords whose value is data and not a schema: a `$ref` in it is no reference. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples']);
const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

const OPTIONS = {
  strict: false,
  allErrors: true,
  ownProperties: true,
  useDefaults: true,
  // Inlining would let a short schema grow into a long program.
  inlineRefs: false,
  code: { optimize: false },
  logger: false,
} as const;

/** A new Ajv each time: one that was interrupted must not be used again. */
function compile(schema: JsonSchema): ValidateFunction {
  const bare = { ...OPTIONS, meta: false, validateSchema: false };
  const ajv = isDraft07(schema) ? new Ajv(bare) : new Ajv2020(bare);
  addFormats(ajv);
  // Without its meta-schema an Ajv does not know what `$schema` names.
  const { $schema: _dialect, ...rest } = schema;
  return ajv.compile(rest);
}

function isDraft07(schema: JsonSchema): boolean {
  return DRAFT_07.test(String(schema.$schema));
}

const metaSchemas = new Map<boolean, Ajv>();

function metaFaults(schema: JsonSchema, path: string): ErrorDetail[] {
  const old = isDraft07(schema);
  let meta = metaSchemas.get(old);
  if (!meta) {
    meta = addFormats(old ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS));
    meta.validateSchema({}); // compiles the meta-schema
    metaSchemas.set(old, meta);
  }
  const { $schema: _dialect, ...rest } = schema;
  return meta.validateSchema(rest) === false ? toFaults(meta.errors, path) : [];
}

function patternFaults(pattern: string, path: string): ErrorDetail[] {
  if (pattern.length > MAX_PATTERN_CHARS) {
    return [faultAt(path, `must not have more than ${MAX_PATTERN_CHARS} characters`, 'maxLength')];
  }
  try {
    new RegExp(pattern, 'u');
    return [];
  } catch {
    return [faultAt(path, 'must be a regular expression (ECMA-262, with the flag u)', 'pattern')];
  }
}

/** Finds the parts of a schema that refer to other documents or cannot be compiled. */
function walkFaults(value: unknown, path: string, depth: number, faults: ErrorDetail[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) {
    faults.push(faultAt(path, `must not nest deeper than ${MAX_DEPTH} levels`, 'depth'));
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    if (REFERENCES.has(key) && typeof inner === 'string' && !inner.startsWith('#')) {
      faults.push(faultAt(below(path, key), 'must refer to a place in this schema, such as #/$defs/name', key));
    } else if (key === '$async' && inner === true) {
      faults.push(faultAt(below(path, key), 'is not a known field', key));
    } else if (key === 'pattern' && typeof inner === 'string') {
      faults.push(...patternFaults(inner, below(path, key)));
    } else if (key === 'patternProperties' && typeof inner === 'object' && inner !== null) {
      for (const pattern of Object.keys(inner)) faults.push(...patternFaults(pattern, below(path, key, pattern)));
      walkFaults(inner, below(path, key), depth + 1, faults);
    } else if (!DATA.has(key)) {
      walkFaults(inner, below(path, key), depth + 1, faults);
    }
  }
}

/**
 * What is wrong with the schema of a tool's inputs. It must describe an object, be self-contained, and be safe to check
 * untrusted values with. Compiling a large one takes 0.3 s: `findSchemaFaults` (fitInputs.ts) does it in a thread.
 */
export function inputSchemaFaults(schema: JsonSchema, path: string): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  walkFaults(schema, path, 0, faults);
  if (schema.type !== 'object') faults.push(faultAt(below(path, 'type'), 'must be object', 'const'));
  const { $schema } = schema;
  if ($schema !== undefined && !DRAFT_07.test(String($schema)) && !DRAFT_2020.test(String($schema))) {
    faults.push(faultAt(below(path, '$schema'), 'must be JSON Schema 2020-12 or draft-07', '$schema'));
  }
  if (faults.length > 0) return distinct(faults);
  try {
    const wrong = metaFaults(schema, path);
    if (wrong.length > 0) return distinct(wrong);
    compile(schema);
    return [];
  } catch (error) {
    const why = Error.isError(error) ? error.message.slice(0, 200) : '';
    return [faultAt(path, `is not a usable JSON Schema: ${why}`, 'schema')];
  }
}

/** The names of all properties that a schema allows; undefined when it allows others than it lists. */
export function declaredInputs(schema: JsonSchema | undefined): Set<string> | undefined {
  if (schema === undefined || typeof schema.properties !== 'object' || schema.properties === null) return undefined;
  const open = [
    '$ref',
    '$dynamicRef',
    'allOf',
    'anyOf',
    'oneOf',
    'if',
    'then',
    'else',
    'dependentSchemas',
    'dependencies',
    'patternProperties',
    'unevaluatedProperties',
  ];
  if (open.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return undefined;
  return new Set(Object.keys(schema.properties));
}

/** Valid inputs with the defaults filled in, or what is wrong with them. */
export type CheckedInputs = { inputs: Record<string, unknown> } | { problem: string };

const validators = lruCache<string, ValidateFunction>(MAX_VALIDATORS);

/** Keywords that read the inputs once. `properties` is looked into separately: its keys are no keywords. */
const LINEAR = new Set([
  'type',
  'required',
  'enum',
  'const',
  'default',
  'title',
  'description',
  'examples',
  'example',
  '$schema',
  '$comment',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'properties',
  'items',
  'additionalProperties',
]);

function isLinear(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return typeof schema === 'boolean' || schema === undefined;
  const { properties = {}, items, additionalProperties } = schema as JsonSchema;
  return (
    Object.keys(schema).every((keyword) => LINEAR.has(keyword)) &&
    [...Object.values(properties as object), items, additionalProperties].every(isLinear)
  );
}

/** Characters of a schema that compiles in a few milliseconds. */
const MAX_QUICK_SCHEMA = 1_000;
/** Characters of the inputs, as JSON, that such a schema checks in a few milliseconds. */
const MAX_QUICK_INPUTS = 50_000;

/** Whether `checkInputs` takes milliseconds, whatever the inputs are. Other checks are made in a thread. `inputs` is JSON. */
export function isQuickCheck(schema: JsonSchema, inputs: string): boolean {
  return JSON.stringify(schema).length <= MAX_QUICK_SCHEMA && isLinear(schema) && inputs.length <= MAX_QUICK_INPUTS;
}

function validatorOf(schema: JsonSchema): ValidateFunction {
  const key = JSON.stringify(schema);
  let validate = validators.get(key);
  if (!validate) {
    validate = compile(schema);
    validators.set(key, validate);
  }
  return validate;
}

/**
 * Checks inputs against the schema of the tool; without a schema all inputs are valid. `given` is not changed. It may take for ever: a
 * pattern that backtracks, or references that double at each level. `fitInputs` (fitInputs.ts) has a time limit.
 */
export function checkInputs(schema: JsonSchema | undefined, given: Record<string, unknown>): CheckedInputs {
  if (schema === undefined) return { inputs: given };
  const inputs = structuredClone(given);
  try {
    const validate = validatorOf(schema);
    if (validate(inputs)) return { inputs };
    const all = toFaults(validate.errors, '').map(({ path, message }) => `${path.slice(1) || 'the inputs'} ${message}`);
    const shown = [...new Set(all)].slice(0, 10).join('; ');
    return { problem: `The inputs do not fit the tool: ${shown}.` };
  } catch (error) {
    if (error instanceof RangeError)
      return { problem: 'The inputs cannot be checked: they, or the inputSchema, nest too deeply.' };
    throw error;
  }
}

/** The same as CheckedInputs, with the inputs as JSON. */
export type CheckedInputsText = { inputs: string } | { problem: string };

/** Checks as `checkInputs` does, what is given as JSON: to copy a text to another thread takes a tenth of what a large value takes. */
export function checkInputsText(schema: string, given: string): CheckedInputsText {
  const checked = checkInputs(JSON.parse(schema) as JsonSchema, JSON.parse(given) as Record<string, unknown>);
  return 'problem' in checked ? checked : { inputs: JSON.stringify(checked.inputs) };
}
