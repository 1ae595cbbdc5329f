import type { Document } from '../../spec/rules/types.ts';
import { refName } from './normalForm.ts';

/** The operations in whose requests and in whose responses a component is found. */
export type Reach = { requests: Set<string>; responses: Set<string> };

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** The operations of the paths, or of the webhooks, with the URL and the method that they stand under. */
export function listedOperations(
  paths: unknown,
): { url: string; method: string; id: string; operation: Record<string, unknown> }[] {
  return Object.entries((paths ?? {}) as Record<string, Record<string, unknown>>).flatMap(([url, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, node]) => {
        const operation = node as Record<string, unknown>;
        const parameters = [...((item.parameters as object[]) ?? []), ...((operation.parameters as object[]) ?? [])];
        const id = String(operation.operationId ?? `${method.toUpperCase()} ${url}`);
        return { url, method, id, operation: { ...operation, ...(parameters.length > 0 && { parameters }) } };
      }),
  );
}

/** Which operations reach each schema of the document. What a webhook sends is a response to its receiver. */
export function reachOfSchemas(document: Document): Map<string, Reach> {
  const reach = new Map<string, Reach>();
  for (const { id, operation } of listedOperations(document.paths)) follow(document, reach, id, operation, true);
  for (const { id, operation } of listedOperations(document.webhooks)) follow(document, reach, id, operation, false);
  return reach;
}

function follow(document: Document, reach: Map<string, Reach>, id: string, operation: object, isOurs: boolean): void {
  const { responses = {}, callbacks = {}, ...rest } = operation as Record<string, object>;
  const seen = new Set<string>();
  const walk = (node: unknown, isRequest: boolean): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const item of node) walk(item, isRequest);
      return;
    }
    const { $ref, readOnly, writeOnly } = node as Record<string, unknown>;
    if (isRequest ? readOnly === true : writeOnly === true) return;
    if (typeof $ref === 'string' && !seen.has(`${$ref} ${isRequest}`)) {
      seen.add(`${$ref} ${isRequest}`);
      const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec($ref) ?? [];
      if (kind === 'schemas') {
        const entry = reach.get(refName($ref) ?? name) ?? { requests: new Set(), responses: new Set() };
        reach.set(name, entry);
        entry[isRequest ? 'requests' : 'responses'].add(id);
      }
      walk(document.components?.[kind]?.[name], isRequest);
    }
    for (const child of Object.values(node)) walk(child, isRequest);
  };
  walk(rest, isOurs);
  walk(responses, !isOurs);
  for (const callback of Object.values(callbacks))
    for (const each of listedOperations(callback)) follow(document, reach, id, each.operation, !isOurs);
}
