import { methods } from '../../spec/rules/contract.ts';
import type { Document, Operation } from '../../spec/rules/types.ts';
import { webhooksOf } from './webhooks.ts';

/** The operations of a bundled document, in its order, and those of its webhooks. */
export function operationsIn(document: Document): Operation[] {
  return [...Object.values(document.paths ?? {}), ...Object.values(webhooksOf(document))].flatMap((item) =>
    methods.flatMap((method) => (item[method] ? [item[method] as Operation] : [])),
  );
}
