import type { Rule, Schema } from './types.ts';

/**
 * The values of a list's or a map's items have a file, and so a name, of their own. Generators name an enum after the property that has it:
 * for one in a list they make up a name, and several clash or do not compile.
 */
export const namedItemEnums: Rule = () => ({
  Schema(schema, { report, location }) {
    for (const keyword of ['items', 'additionalProperties'] as const)
      for (const [path, inner] of innerOf(schema[keyword]))
        if (inner.enum)
          report({
            message: 'An enum in a list or a map needs a file of its own.',
            location: location.child([keyword, ...path]),
          });
  },
});

/** A schema and its alternatives, each with the path to it. */
function innerOf(schema: Schema | boolean | undefined): [(string | number)[], Schema][] {
  if (typeof schema !== 'object') return [];
  const alternatives = (['anyOf', 'oneOf', 'allOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).map((each, index): [(string | number)[], Schema] => [[keyword, index], each]),
  );
  return [[[], schema], ...alternatives];
}
