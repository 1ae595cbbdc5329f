import { isMap, isScalar, parseDocument } from 'yaml';
import { operationsOf } from './contract.ts';
import type { Location, Rule } from './types.ts';

const order = [
  'operationId',
  'summary',
  'description',
  'tags',
  'security',
  'parameters',
  'requestBody',
  'responses',
  'x-error-codes',
];

/** An operation's keys have one order and its responses rising statuses, so that a diff of two operations is short. */
export const operationKeyOrder: Rule = () => ({
  PathItem(item, context) {
    for (const { node, location } of operationsOf(item, context)) {
      const keys = Object.keys(node);
      const unknown = keys.find((key) => !order.includes(key));
      if (unknown)
        context.report({
          message: `\`${unknown}\` is not a key of our operations.`,
          location: location.child(unknown).key(),
        });
      const known = keys.filter((key) => order.includes(key));
      const misplaced = known.find(
        (key, index) => index > 0 && order.indexOf(key) < order.indexOf(known[index - 1] ?? ''),
      );
      if (misplaced)
        context.report({
          message: `\`${misplaced}\` is out of order: ${order.join(', ')}.`,
          location: location.child(misplaced).key(),
        });
      for (const key of ['responses', 'x-error-codes'] as const) {
        const statuses = statusesAsWritten(location.child(key));
        const late = statuses.find((status, index) => index > 0 && status < (statuses[index - 1] ?? ''));
        if (late)
          context.report({ message: `${key}: ${late} is out of order.`, location: location.child([key, late]).key() });
      }
    }
  },
});

/** The keys of a map as the file has them: JavaScript enumerates those that look like integers in rising order. */
function statusesAsWritten({ source, pointer }: Location): string[] {
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const map = parseDocument(source.body).getIn(path);
  return isMap(map) ? map.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
}
