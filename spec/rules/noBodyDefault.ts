import { operationsOf, requestBodyOf, schemasOf, walkSchema } from './contract.ts';
import type { Rule, Schema } from './types.ts';

/**
 * A field of a request body has no `default`: its description says what absent means. openapi-typescript makes fields with a default
 * required, for requests too, and other generators send the default that they knew when they ran.
 */
export const noBodyDefault: Rule = () => {
  const seen = new Set<Schema>();
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context)) {
        const body = requestBodyOf(operation, context);
        if (!body) continue;
        for (const schema of schemasOf(body.node.content, body.location))
          walkSchema(schema, context, seen, ({ node, location }) => {
            if ('default' in node)
              context.report({
                message: "A body's field has no default: say in its description what absent means.",
                location: location.child('default').key(),
              });
          });
      }
    },
  };
};
