import { operationsOf } from './contract.ts';
import type { Rule } from './types.ts';

const HEADER = 'idempotency-key';
const KEY_REUSED = 'IDEMPOTENCY_KEY_REUSED';

/**
 * A POST takes the header `Idempotency-Key` and, if it has a body, names the code of a key that was used with another one; or it stands on the list
 * `without`, where nothing stands needlessly. No other method takes the header: their requests can be repeated as they are.
 * Options: `without`, the POST operations without the header.
 */
export const idempotencyKey: Rule<{ without?: string[] }> = ({ without = [] }) => ({
  PathItem(item, context) {
    for (const { method, node, location, parameters } of operationsOf(item, context)) {
      const { operationId = '' } = node;
      const takesKey = parameters.some((each) => each.node.in === 'header' && each.node.name.toLowerCase() === HEADER);
      const report = (message: string) => context.report({ message, location: location.key() });
      const listed = without.includes(operationId);
      if (method !== 'post') {
        if (takesKey) report(`${operationId} takes an Idempotency-Key and is no POST.`);
      } else if (takesKey === listed) {
        report(
          listed
            ? `${operationId} takes an Idempotency-Key and is listed as an operation without it.`
            : `${operationId} takes no Idempotency-Key. Add the parameter, or list the operation in redocly.yaml.`,
        );
      } else if (takesKey && node.requestBody && !node['x-error-codes']?.['422']?.includes(KEY_REUSED)) {
        report(`${operationId} takes an Idempotency-Key and does not name ${KEY_REUSED}.`);
      }
    }
  },
});
