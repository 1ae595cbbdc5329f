import { allows, operationsOf, requestSchemas, walkSchema } from './contract.ts';
import type { Rule, Schema } from './types.ts';

/**
 * Every text, list and number that a client sends has a maximum. A pattern limits a text only when it
 * is anchored at both ends and has no unlimited repetition.
 */
export const requestBounds: Rule = () => {
  const seen = new Set<Schema>();
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context))
        for (const schema of requestSchemas(operation, context))
          walkSchema(schema, context, seen, ({ node, location }) => {
            const lacks = lacking(node);
            if (lacks) context.report({ message: `A request's ${lacks}.`, location });
          });
    },
  };
};

const bounding = /^\^(?!.*([+*]|\{\d+,\})).*\$$/;

function lacking(schema: Schema): string | undefined {
  const has = (...keywords: string[]) => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has('enum', 'const')) return undefined;
  if (
    allows(schema, 'string') &&
    !has('maxLength', 'format', 'contentMediaType') &&
    !bounding.test(String(schema.pattern))
  )
    return 'string needs maxLength, format, a bounding pattern or enum';
  if (allows(schema, 'array') && !has('maxItems')) return 'array needs maxItems';
  if (
    (allows(schema, 'integer') || allows(schema, 'number')) &&
    !(has('minimum', 'exclusiveMinimum') && has('maximum', 'exclusiveMaximum'))
  )
    return 'number needs minimum and maximum';
  return undefined;
}
