import { operationsOf, requestSchemas, responseSchemas, walkSchema } from './contract.ts';
import type { Rule, Schema } from './types.ts';

const keyword = 'x-extensible-enum';

/**
 * A list of values that may grow is a string with `x-extensible-enum`: an `enum` would make generated clients refuse a new value.
 * It is never in a request, which refuses what it does not know, and never beside an `enum`.
 */
export const openLists: Rule = () => {
  const requested = new Set<Schema>();
  const answered = new Set<Schema>();
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context)) {
        for (const schema of requestSchemas(operation, context))
          walkSchema(schema, context, requested, ({ node, location }) => {
            if (keyword in node)
              context.report({
                message: `A request has closed lists: write \`enum\`.`,
                location: location.child(keyword).key(),
              });
          });
        for (const schema of responseSchemas(operation, context))
          walkSchema(schema, context, answered, ({ node, location }) => {
            const fault = keyword in node && faultOf(node);
            if (fault) context.report({ message: fault, location: location.child(keyword).key() });
          });
      }
    },
  };
};

function faultOf(schema: Schema): string | undefined {
  const known = schema[keyword];
  if (schema.type !== 'string' || schema.enum || schema.const) return `\`${keyword}\` is for strings without \`enum\`.`;
  if (!Array.isArray(known) || known.length === 0 || known.some((value) => typeof value !== 'string'))
    return `\`${keyword}\` lists the values that are known.`;
  return new Set(known).size < known.length ? `\`${keyword}\` lists a value twice.` : undefined;
}
