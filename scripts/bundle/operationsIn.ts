import { methods } from '../../spec/rules/contract.ts';
import type { Document, Operation } from '../../spec/rules/types.ts';

/** The operations of a bundled document, in its order. */
export function operationsIn(document: Document): Operation[] {
  return Object.values(document.paths ?? {}).flatMap((item) =>
    methods.flatMap((method) => (item[method] ? [item[method] as Operation] : [])),
  );
}
