import type { Rule } from './types.ts';

const old: Record<string, string> = { example: '`examples: [...]`', definitions: 'a file of its own' };
const annotations = ['$ref', 'summary', 'description'];

/**
 * Schemas are written in JSON Schema 2020-12, not in the dialect of OpenAPI 3.0. `nullable` and boolean bounds are faults of structure,
 * which Redocly's `struct` reports. Only texts may be beside a `$ref`: openapi-backend's quick mode drops the rest.
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
  ref(reference, { report }) {
    const lost = Object.keys(reference).filter((keyword) => !annotations.includes(keyword));
    if (lost.length > 0) report({ message: `Put the \`$ref\` into an \`allOf\`, or else ${lost.join(', ')} is lost.` });
  },
});
