import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import schemas from '../../../generated/toolSchemas.json' with { type: 'json' };
import { nearest } from './nearest.ts';
import { type Problem, placeOf } from './problem.ts';

type Schema = Record<string, unknown>;

/** What the arguments of one operation are checked against, and where each of them goes. */
export interface ArgumentRow {
  parameters: { name: string; in: 'path' | 'query'; required?: boolean; schema: Schema }[];
  body?: Schema;
  bodyRequired?: boolean;
  /** The operation takes a file, of so many bytes at most; `body` is the schema of what comes with it. */
  file?: { maxBytes: number; required?: boolean; body?: Schema };
}

const rows = schemas.tools as unknown as Record<string, ArgumentRow>;

/** More wrong fields than a model reads at once. */
export const MAX_PROBLEMS = 10;

/** Keywords whose errors only say that an alternative failed: those of the alternative itself say why. */
const SILENT = new Set(['if', 'anyOf']);

const ROOT = 'schemas';
const compiled = new Map<string, ValidateFunction>();

/** Values with more characters of JSON are checked by the service alone, which does it in turns and with bounds of its own. */
const MAX_CHECKED_CHARACTERS = 100_000;
/** Of a value with more, only the first wrong place is looked for: Ajv's time for all of them grows with their square. */
const MAX_CHECKED_WHOLE_CHARACTERS = 4_000;

/** @throws Error when there is no such operation among the tools */
export function argumentRow(operationId: string): ArgumentRow {
  const row = rows[operationId];
  if (!row) throw new Error(`${operationId} is no tool`);
  return row;
}

/**
 * What is wrong with a value, ten places at most. `key` names the schema: its validator is compiled when it is first used and kept.
 * `field` is what the value is called.
 */
export function problemsOf(key: string, schema: Schema, value: unknown, field: string): Problem[] {
  const { length } = JSON.stringify(value) ?? '';
  if (length > MAX_CHECKED_CHARACTERS) return [];
  const validate = validatorOf(key, schema, length <= MAX_CHECKED_WHOLE_CHARACTERS);
  if (validate(value)) return [];
  const distinct = new Map<string, Problem>();
  for (const error of validate.errors ?? []) {
    if (SILENT.has(error.keyword)) continue;
    const problem = problemOf(error, field);
    distinct.set(`${problem.field} ${problem.message}`, problem);
    // The rest is not even described: a body can have very many errors.
    if (distinct.size === MAX_PROBLEMS) break;
  }
  return [...distinct.values()];
}

function validatorOf(key: string, schema: Schema, allErrors: boolean): ValidateFunction {
  const name = `${key} ${allErrors}`;
  const known = compiled.get(name);
  if (known) return known;
  const ajv = ajvs.get(allErrors) ?? createAjv(allErrors);
  ajvs.set(allErrors, ajv);
  const validate = ajv.compile(absolute(schema));
  compiled.set(name, validate);
  return validate;
}

const ajvs = new Map<boolean, Ajv2020>();

function createAjv(allErrors: boolean): Ajv2020 {
  // The schemas are generated from a document that is linted. Verbose: an error has the schema that it comes from.
  const made = new Ajv2020({ strict: false, validateSchema: false, allErrors, verbose: true });
  addFormatsModule.default(made);
  for (const width of ['int32', 'int64', 'double', 'binary']) made.addFormat(width, true);
  made.addSchema({ $id: ROOT, $defs: schemas.$defs });
  return made;
}

/** References are to `$defs` of the whole file. */
function absolute(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${ROOT}#/$defs/`));
}

function problemOf({ instancePath, keyword, params, message, parentSchema }: ErrorObject, field: string): Problem {
  const place = `${field}${placeOf(instancePath)}`.replace(/^\./, '');
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = String(params.additionalProperty ?? params.unevaluatedProperty);
    const close = nearest(name, Object.keys((parentSchema?.properties ?? {}) as object));
    const meant = close === undefined ? '' : `; did you mean ${close}?`;
    return { field: joined(place, name), message: `is not known${meant}` };
  }
  if (keyword === 'required') return { field: joined(place, String(params.missingProperty)), message: 'is required' };
  if (keyword === 'enum') return { field: place, message: `must be one of ${listed(params.allowedValues)}` };
  if (keyword === 'not') return { field: place, message: 'must be left out here' };
  if (keyword === 'format' && params.format === 'uuid') {
    return { field: place, message: 'must be a UUID, a publicId that another tool lists' };
  }
  return { field: place, message: message ?? `breaks the rule ${keyword}` };
}

function joined(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

function listed(values: unknown): string {
  return (values as unknown[]).map((value) => JSON.stringify(value)).join(', ');
}
