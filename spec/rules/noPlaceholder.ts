import type { Location, Rule, RuleContext } from './types.ts';

/** How each text begins that `npm run new:operation` leaves for its author to write. */
export const PLACEHOLDER = 'TODO';

/** No text of an operation, a schema or an example is still the placeholder that `npm run new:operation` wrote. */
export const noPlaceholder: Rule = () => ({
  Operation: (node, context) => check({ summary: node.summary, description: node.description }, context),
  Schema: (node, context) => check({ description: node.description }, context),
  Example: (node, context) => check(node, context),
});

function check(node: object, context: RuleContext): void {
  for (const location of placeholders(node, context.location))
    context.report({ message: `Write this text: it still begins with ${PLACEHOLDER}.`, location });
}

/** Where a value has a string that is a placeholder. */
function placeholders(value: unknown, location: Location): Location[] {
  if (typeof value === 'string') return value.startsWith(PLACEHOLDER) ? [location] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placeholders(inner, location.child(key)));
}
