import { follow, operationsOf, type Placed, requestSchemas, responseSchemas, walkSchema } from './contract.ts';
import type { Rule, RuleContext, Schema } from './types.ts';

/** Every property has a description: its own, or that of the schema that it refers to. */
export const propertyDescribed: Rule = () => {
  const seen = new Set<Schema>();
  return {
    PathItem(item, context) {
      for (const operation of operationsOf(item, context))
        for (const schema of [...requestSchemas(operation, context), ...responseSchemas(operation, context)])
          walkSchema(schema, context, seen, ({ node, location }) => {
            for (const [name, property] of Object.entries(node.properties ?? {})) {
              const at = location.child(['properties', name]);
              if (!described({ node: property, location: at }, context))
                context.report({ message: `Property \`${name}\` has no description.`, location: at.key() });
            }
          });
    },
  };
};

function described(schema: Placed<Schema>, context: RuleContext): boolean {
  if (schema.node.description) return true;
  const { node, location } = follow(schema, context);
  if (node.description) return true;
  return (node.allOf ?? []).some((part, index) =>
    described({ node: part, location: location.child(['allOf', index]) }, context),
  );
}
