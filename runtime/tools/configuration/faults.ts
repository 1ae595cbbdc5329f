import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ErrorDetail } from '../../../core/errors.ts';
import { pointerStep } from '../../../core/jsonPointer.ts';

/** JSON Pointer of the configuration in a request. */
export const CONFIGURATION = '/body/configuration';

/** Faults that one error response lists. */
const MAX_FAULTS = 50;

/** The JSON Pointer (RFC 6901) of a place below `path`. */
export function below(path: string, ...steps: (string | number)[]): string {
  return [path, ...steps.map((step) => pointerStep(String(step)))].join('/');
}

/** One fault of a configuration. */
export function faultAt(path: string, message: string, keyword = 'rule'): ErrorDetail {
  return { path, message, keyword };
}

/** The faults without repetitions, at most as many as one error response lists. */
export function distinct(faults: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Map(faults.map((fault) => [`${fault.path} ${fault.message}`, fault]));
  return [...seen.values()].slice(0, MAX_FAULTS);
}

/** The errors of a validator as error details of the API. */
export function toFaults(errors: readonly ErrorObject[] | null | undefined, path: string): ErrorDetail[] {
  return (errors ?? []).map(({ instancePath, keyword, message, params }) => {
    const here = path + instancePath;
    const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty;
    if (extra !== undefined) return faultAt(below(here, String(extra)), 'is not a known field', keyword);
    if (keyword === 'required') return faultAt(below(here, String(params.missingProperty)), 'is required', keyword);
    const allowed: unknown = params.allowedValues;
    const says = Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : (message ?? 'is not valid');
    return faultAt(here, says, keyword);
  });
}

let ajv: Ajv2020 | undefined;
const compiled = new WeakMap<object, ValidateFunction>();

/**
 * Checks a configuration against the JSON Schema of its kind. `sound` has the fields without a fault, so that the other rules
 * of the kind can be checked at the same time.
 */
export function checkShape<T>(
  schema: object,
  configuration: Record<string, unknown>,
  path: string,
): { faults: ErrorDetail[]; sound: Partial<T> } {
  let validate = compiled.get(schema);
  if (!validate) {
    ajv ??= new Ajv2020({ allErrors: true, strict: false, ownProperties: true });
    validate = ajv.compile(schema);
    compiled.set(schema, validate);
  }
  const faults = validate(configuration) ? [] : toFaults(validate.errors, path);
  // The first step of each pointer, still escaped.
  const faulty = new Set(faults.map((fault) => fault.path.slice(path.length + 1).split('/', 1)[0]));
  const fields = Object.entries(configuration).filter(([field]) => !faulty.has(below('', field).slice(1)));
  return { faults, sound: Object.fromEntries(fields) as Partial<T> };
}
