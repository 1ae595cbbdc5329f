import type { ErrorObject } from 'ajv';
import type { ErrorDetail } from './errors.ts';
import { pointerStep } from './jsonPointer.ts';

/** Faults that one error response lists. */
export const MAX_FAULTS = 20;
/** Characters of an unknown name in a fault: a request may have one of two megabytes. */
const MAX_NAME = 200;

/** The JSON Pointer (RFC 6901) of a place below `path`. */
export function below(path: string, ...steps: (string | number)[]): string {
  return [path, ...steps.map((step) => pointerStep(String(step)))].join('/');
}

/** One fault of a value: its JSON Pointer, and what is wrong there. */
export function faultAt(path: string, message: string, keyword = 'rule'): ErrorDetail {
  return { path, message, keyword };
}

/** The faults without repetitions, at most as many as one error response lists. */
export function distinct(faults: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Map(faults.map((fault) => [`${fault.path} ${fault.message}`, fault]));
  return [...seen.values()].slice(0, MAX_FAULTS);
}

/**
 * The errors of a validator as error details of the API, at most as many as one error response lists. `path` is the JSON Pointer of
 * the value that it checked.
 */
export function toFaults(errors: readonly ErrorObject[] | null | undefined, path: string): ErrorDetail[] {
  // `if` and `propertyNames` only say that a schema in them failed; what failed in it is in the list as well.
  return (errors ?? [])
    .values()
    .filter(({ keyword }) => keyword !== 'if' && keyword !== 'propertyNames')
    .take(MAX_FAULTS)
    .map((error) => toFault(error, path + error.instancePath))
    .toArray();
}

function toFault({ keyword, message = 'is not valid', params, propertyName }: ErrorObject, here: string): ErrorDetail {
  if (propertyName !== undefined) return faultAt(below(here, propertyName), `has a name that ${message}`, keyword);
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  if (extra !== undefined)
    return faultAt(below(here, String(extra).slice(0, MAX_NAME)), 'is not a known field', keyword);
  if (keyword === 'required') return faultAt(below(here, String(params.missingProperty)), 'is required', keyword);
  return faultAt(here, allowedBy(params) ?? message, keyword);
}

/** What the value must be, in words, for the parameters of a failed `enum` or `const`; undefined for those of other keywords. */
export function allowedBy(params: Record<string, unknown> = {}): string | undefined {
  const { allowedValues, allowedValue } = params;
  if (Array.isArray(allowedValues)) return `must be one of ${allowedValues.join(', ')}`;
  return allowedValue === undefined ? undefined : `must be ${JSON.stringify(allowedValue)}`;
}
