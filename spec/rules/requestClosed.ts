import { allows, operationsOf, requestSchemas, walkSchema } from './contract.ts';
import type { Rule, Schema } from './types.ts';

/**
 * An object in a request refuses unknown fields (`additionalProperties: false` or `unevaluatedProperties: false`), unless it
 * says that it accepts them (`additionalProperties: true` or a schema). Parts of an `allOf` are closed by the whole.
 */
export const requestClosed: Rule = () => {
  const seen = new Set<Schema>();
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context))
        for (const schema of requestSchemas(operation, context))
          walkSchema(schema, context, seen, ({ node, location, part }) => {
            const isObject = allows(node, 'object') || node.properties !== undefined || composes(node);
            const decided = node.additionalProperties !== undefined || node.unevaluatedProperties !== undefined;
            if (isObject && !decided && !part)
              context.report({
                message: 'A request object needs additionalProperties or unevaluatedProperties.',
                location,
              });
          });
    },
  };
};

/** Whether a schema combines the parts of an object, instead of narrowing one schema. */
function composes(schema: Schema): boolean {
  return (schema.allOf ?? []).filter((part) => part.$ref !== undefined || part.properties !== undefined).length > 1;
}
