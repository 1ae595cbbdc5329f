import { operationsOf, responseSchemas, walkSchema } from './contract.ts';
import type { Rule, Schema } from './types.ts';

/**
 * A response always carries every field: each property of its objects is in `required`. Not so the schemas that an open object
 * names: whoever wrote the object may have left fields out, and it is given back as it was written.
 */
export const responseRequired: Rule = () => {
  const seen = new Set<Schema>();
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context))
        for (const schema of responseSchemas(operation, context))
          walkSchema(
            schema,
            context,
            seen,
            ({ node, location }) => {
              const optional = Object.keys(node.properties ?? {}).filter((name) => !node.required?.includes(name));
              if (optional.length > 0)
                context.report({
                  message: `A response's properties are all required; not so: ${optional.join(', ')}.`,
                  location,
                });
            },
            { named: false },
          );
    },
  };
};
