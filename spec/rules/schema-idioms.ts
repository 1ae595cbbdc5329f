import type { Rule } from './types.ts';

const old: Record<string, string> = { example: '`examples: [...]`', definitions: 'a file of its own' };

/**
 * Schemas speak JSON Schema 2020-12, not the dialect of OpenAPI 3.0. `nullable` and boolean bounds are faults of structure,
 * which Redocly's `struct` reports.
 */
export const schemaIdioms: Rule = () => ({
  Schema(schema, { report, location }) {
    for (const [keyword, instead] of Object.entries(old))
      if (keyword in schema)
        report({
          message: `\`${keyword}\` is no keyword here: write ${instead}.`,
          location: location.child(keyword).key(),
        });
  },
});
