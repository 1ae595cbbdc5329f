import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { operationsOf, responsesOf } from './contract.ts';
import type { Rule } from './types.ts';

/**
 * An operation names its own error codes by status: for each error response that does not carry its codes itself, and only
 * for statuses that it documents. Codes are members of ErrorCode, and each member is used.
 * Options: `elsewhere`, codes that no operation names.
 */
export const errorCodes: Rule<{ elsewhere?: string[] }> = ({ elsewhere = [] }) => {
  let registry: string[] = [];
  const used = new Set(elsewhere);
  return {
    Root: {
      enter(_root, { location }) {
        const file = join(dirname(location.source.absoluteRef), 'schemas/common/ErrorCode.yaml');
        registry = existsSync(file) ? (parse(readFileSync(file, 'utf8'))['x-extensible-enum'] ?? []) : [];
      },
      leave(_root, { report, location }) {
        const idle = registry.filter((code) => !used.has(code));
        if (idle.length > 0)
          report({
            message: `ErrorCode has codes that no operation names: ${idle.join(', ')}.`,
            location: location.child('paths').key(),
          });
      },
    },
    PathItem(item, context) {
      for (const operation of operationsOf(item, context)) {
        const { operationId } = operation.node;
        const own = operation.node['x-error-codes'] ?? {};
        const at = operation.location.child('x-error-codes');
        for (const { status, node } of responsesOf(operation, context)) {
          for (const code of node['x-error-codes'] ?? []) used.add(code);
          if (status >= '400' && !node['x-error-codes'] && !own[status]?.length)
            context.report({
              message: `${operationId} names no code for ${status}.`,
              location: operation.location.child(['responses', status]).key(),
            });
        }
        for (const [status, codes] of Object.entries(own)) {
          if (!operation.node.responses?.[status])
            context.report({
              message: `${operationId} names codes for ${status}, which it does not document.`,
              location: at.child(status).key(),
            });
          for (const code of codes) {
            used.add(code);
            if (!registry.includes(code))
              context.report({ message: `${code} is not in ErrorCode.`, location: at.child(status) });
          }
        }
      }
    },
  };
};
