import type { Rule } from './types.ts';

/**
 * A schema is an object: `{}` for anything, `{ not: {} }` for nothing. Several generators stop at `true` and `false`. Those of
 * `additionalProperties` and `unevaluatedProperties` are known to all; most others Redocly's `struct` reports.
 */
export const noBooleanSchema: Rule = () => ({
  Schema(schema, { report, location }) {
    const check = (value: unknown, path: string[]) => {
      if (typeof value === 'boolean')
        report({ message: `Write ${value ? '{}' : '{ not: {} }'}, not ${value}.`, location: location.child(path) });
    };
    for (const keyword of ['properties', 'patternProperties'])
      for (const [name, value] of Object.entries(schema[keyword] ?? {})) check(value, [keyword, name]);
    check(schema.items, ['items']);
  },
});
