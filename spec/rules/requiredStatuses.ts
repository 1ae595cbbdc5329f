import { operationsOf } from './contract.ts';
import type { Rule } from './types.ts';

const always = ['400', '401', '429', '500', '503'];
const withBody = ['413', '415'];

/**
 * Every operation documents the statuses that any request can get, any request with a body, and any request that names a resource.
 * Options: `closedParameters`, path parameters with a closed set of values, for which 404 is impossible.
 */
export const requiredStatuses: Rule<{ closedParameters?: string[] }> = ({ closedParameters = [] }) => ({
  PathItem(item, context) {
    const path = String(context.key);
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    for (const { node, location } of operationsOf(item, context)) {
      const resource = names.some(
        (name) => !closedParameters.includes(`${path.slice(0, path.indexOf(`{${name}}`))}{${name}}`),
      );
      // A request without a key has none that could be wrong.
      const needed = always.filter((status) => status !== '401' || node.security?.length !== 0);
      const wanted = [...needed, ...(node.requestBody ? withBody : []), ...(resource ? ['404'] : [])];
      const missing = wanted.filter((status) => !node.responses?.[status]).toSorted();
      if (missing.length === 0) continue;
      context.report({
        message: `${node.operationId} does not document ${missing.join(', ')}.`,
        location: location.child('responses').key(),
      });
    }
  },
});
