import {
  allows,
  follow,
  type Met,
  operationsOf,
  type Placed,
  requestBodyOf,
  schemasOf,
  walkSchema,
} from './contract.ts';
import type { Rule, RuleContext, Schema } from './types.ts';

const FORM = 'multipart/form-data';

/**
 * A list or a map that a JSON body may leave out may be `null` too. Generated Java clients start with an empty container where `null` is
 * not allowed, and send it: a change of one field would empty the lists of the others.
 */
export const nullableContainers: Rule = () => {
  const seen = new Set<Schema>();
  return {
    PathItem(item, context) {
      const visit = ({ node, location }: Met) => {
        const optional = Object.keys(node.properties ?? {}).filter((name) => !node.required?.includes(name));
        for (const name of optional) {
          const property = { node: node.properties?.[name] ?? {}, location: location.child(['properties', name]) };
          if (isFilledIn(property, context))
            context.report({
              message: 'A list or a map that a body may leave out takes `null`.',
              location: property.location,
            });
        }
      };
      for (const operation of operationsOf(item, context)) {
        const body = requestBodyOf(operation, context);
        if (!body) continue;
        const { [FORM]: _form, ...content } = body.node.content ?? {};
        for (const schema of schemasOf(content, body.location))
          walkSchema(schema, context, seen, visit, { named: false });
      }
    },
  };
};

/** Whether a generated client fills in an empty container: the values can be a list or a map, and not null. */
function isFilledIn(property: Placed<Schema>, context: RuleContext): boolean {
  const { node, location } = follow(property, context);
  const members = [...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  const alternatives = [node, ...members.map((each) => follow({ node: each, location }, context).node)];
  return alternatives.some(isContainer) && !alternatives.some((each) => allows(each, 'null'));
}

function isContainer(schema: Schema): boolean {
  const isMap = !schema.properties && Boolean(schema.additionalProperties);
  return isMap || allows(schema, 'array');
}
