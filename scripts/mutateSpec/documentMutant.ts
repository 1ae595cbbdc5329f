import type { Document } from '../../spec/rules/types.ts';

/** A small change of the document: its kind, where it is made, and what makes it. */
export type DocumentMutant = { kind: string; place: string; apply(document: Document): void };

/** A part of the document by the keys that lead to it. */
export type DocumentPath = (string | number)[];

/** The part of a document that a path leads to. */
export function partAt<T>(document: Document, path: DocumentPath): T {
  return path.reduce<unknown>((node, key) => (node as Record<string | number, unknown>)[key], document) as T;
}
