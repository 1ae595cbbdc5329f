import { invalid } from '../../core/errors.ts';
import { pointerStep } from '../../core/jsonPointer.ts';
import { isStorable } from '../../core/text.ts';

/** Most values in a JSON body, arrays and objects included: no documented body comes near it. */
const JSON_VALUES = 50_000;

/** Deepest nesting of a JSON body: nothing of the contract comes near it, and recursion further on stays harmless. */
const JSON_DEPTH = 100;

/**
 * Refuses values that cannot be stored as they are, nesting beyond JSON_DEPTH, and more than JSON_VALUES values: a
 * validator that names every fault must not be handed millions. `at` is the JSON Pointer prefix for the error's details.
 */
export function checkStorable(value: unknown, at: string): void {
  let values = 0;
  const check = (inner: unknown, path: string, depth: number): void => {
    values += 1;
    if (values > JSON_VALUES) throw invalid(at, `must not have more than ${JSON_VALUES} values`, 'size');
    if (typeof inner === 'string') {
      if (!isStorable(inner)) throw invalid(path, 'must not contain NUL or unpaired surrogates', 'text');
    } else if (typeof inner === 'object' && inner !== null) {
      if (depth >= JSON_DEPTH)
        throw invalid(path.slice(0, 200), `must not nest deeper than ${JSON_DEPTH} levels`, 'depth');
      for (const key in inner) {
        if (!isStorable(key))
          throw invalid(path, 'must not have property names with NUL or unpaired surrogates', 'text');
        check((inner as Record<string, unknown>)[key], `${path}/${pointerStep(key)}`, depth + 1);
      }
    }
  };
  check(value, at, 0);
}
