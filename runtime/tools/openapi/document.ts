import { pointerKey } from '../../../core/jsonPointer.ts';
import type { DocumentFault } from './importRequest.ts';

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value of a document and the path to it from the document's root. */
export interface Located<T = unknown> {
  value: T;
  steps: (string | number)[];
}

/** A fault in the document: ends the import of one endpoint. */
export class BadDocument extends Error {
  readonly fault: DocumentFault;

  constructor(message: string, steps: (string | number)[], field: DocumentFault['field'] = 'openapi') {
    super(message);
    this.fault = { field, steps, message };
  }
}

/** References to references are followed this often. */
const MAX_HOPS = 20;

/** The steps of a local reference. Throws BadDocument for any other. */
export function stepsOf(ref: string, at: (string | number)[]): string[] {
  let pointer: string | undefined;
  try {
    pointer = ref === '#' ? '' : /^#(\/.*)$/s.exec(ref)?.[1] && decodeURIComponent(ref.slice(1));
  } catch {
    // Broken percent-encoding.
  }
  if (pointer === undefined) {
    throw new BadDocument('must refer to a place in this document, such as #/components/schemas/Order', [
      ...at,
      '$ref',
    ]);
  }
  return pointer.split('/').slice(1).map(pointerKey);
}

/** The value at a path of a document; undefined when there is none. */
export function valueAt(document: Fields, steps: readonly string[]): unknown {
  let value: unknown = document;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Fields)[step];
  }
  return value;
}

/** The object at a path, after following local references. Throws BadDocument when there is none. */
export function objectAt(document: Fields, located: Located): Located<Fields> {
  let { value, steps } = located;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    if (!isFields(value)) throw new BadDocument('must be an object', steps);
    if (typeof value.$ref !== 'string') return { value, steps };
    const target = stepsOf(value.$ref, steps);
    const found = valueAt(document, target);
    if (found === undefined) throw new BadDocument('refers to nothing', [...steps, '$ref']);
    [value, steps] = [found, target];
  }
  throw new BadDocument('refers to itself', steps);
}
