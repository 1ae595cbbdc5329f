import { type ApiError, invalid } from '../../core/errors.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import { isStorable } from '../../core/text.ts';

/** Most values in a JSON body, arrays and objects included: no documented body comes near it. */
export const MAX_JSON_VALUES = 50_000;

/** Deepest nesting of a JSON body: nothing of the contract comes near it, and recursion further on stays harmless. */
const JSON_DEPTH = 100;

/** The error for more than MAX_JSON_VALUES values. */
export function tooManyValues(at: string): ApiError {
  return invalid(at, `must not have more than ${MAX_JSON_VALUES} values`, 'size');
}

/** The error for nesting beyond JSON_DEPTH. */
export function tooDeep(path: string): ApiError {
  return invalid(path, `must not nest deeper than ${JSON_DEPTH} levels`, 'depth');
}

/**
 * Refuses values that cannot be stored as they are, nesting beyond JSON_DEPTH, and more than MAX_JSON_VALUES values: a
 * validator that names every fault must not be handed millions. `at` is the JSON Pointer prefix for the error's details.
 */
export function checkStorable(value: unknown, at: string): void {
  let values = 0;
  // Where `check` is: the pointer is made for an error only.
  const steps: string[] = [];
  const here = () => [at, ...steps.map(pointerStep)].join('/');
  const check = (inner: unknown): void => {
    values += 1;
    if (values > MAX_JSON_VALUES) throw tooManyValues(at);
    if (typeof inner === 'string') {
      if (!isStorable(inner)) throw invalid(here(), 'must not contain NUL or unpaired surrogates', 'text');
    } else if (typeof inner === 'object' && inner !== null) {
      if (steps.length >= JSON_DEPTH) throw tooDeep(here().slice(0, 200));
      for (const key of Object.keys(inner)) {
        if (!isStorable(key))
          throw invalid(here(), 'must not have property names with NUL or unpaired surrogates', 'text');
        steps.push(key);
        check((inner as Record<string, unknown>)[key]);
        steps.pop();
      }
    }
  };
  check(value);
}
