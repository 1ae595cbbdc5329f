import type { Rule } from './types.ts';

/**
 * `x-schemas` stands on an open object only (`type: object`, `additionalProperties: true`), so that generators have one type for the field
 * and requests are not refused with 400 by it. Each schema that it names is a file of its own, so that it has a name in generated code.
 */
export const schemasByField: Rule = () => ({
  Schema(schema, { report, location }) {
    const named = schema['x-schemas'];
    if (named === undefined) return;
    const at = location.child('x-schemas');
    if (schema.type !== 'object' || schema.additionalProperties !== true)
      report({ message: '`x-schemas` belongs on an object with `additionalProperties: true`.', location: at.key() });
    for (const [kind, each] of Object.entries(named.mapping ?? {}))
      if (each.$ref === undefined)
        report({
          message: `The schema of ${kind} belongs into a file of its own.`,
          location: at.child(['mapping', kind]),
        });
  },
});
