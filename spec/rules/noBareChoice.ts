import type { Rule, Schema } from './types.ts';

const describing = ['type', 'properties', '$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const'];

/**
 * A member of `oneOf` or `anyOf` is a type of its own. One that only has `required` narrows the schema around it, and generators make an
 * empty type of it, or none at all: write `if`, `then` and `else`, which they pass over.
 */
export const noBareChoice: Rule = () => ({
  Schema(schema, { report, location }) {
    for (const keyword of ['oneOf', 'anyOf'] as const)
      for (const [index, member] of (schema[keyword] ?? []).entries())
        if (isBare(member))
          report({
            message: `A member of \`${keyword}\` with \`required\` alone is no type: write if, then and else.`,
            location: location.child([keyword, index]),
          });
  },
});

function isBare(member: Schema): boolean {
  return Array.isArray(member.required) && !describing.some((keyword) => keyword in member);
}
