import type { Document } from '../../spec/rules/types.ts';

/** Keywords that say nothing about what is valid. They are texts to the comparison. */
const TEXTS = new Set(
  'description summary title example examples externalDocs deprecated $comment contact license termsOfService x-tagGroups x-badges'.split(
    ' ',
  ),
);
/** Keywords whose value has names of the author's as keys, and not keywords. */
const MAPS = new Set(
  (
    'properties patternProperties dependentSchemas $defs paths responses content headers callbacks webhooks variables encoding ' +
    'schemas parameters securitySchemes requestBodies links pathItems'
  ).split(' '),
);
/** Keywords whose value is data. */
const DATA = new Set([
  'enum',
  'const',
  'default',
  'required',
  'security',
  'x-error-codes',
  'dependentRequired',
  'mapping',
]);

/**
 * The document without its texts and examples, with the keys of each object in alphabetical order. Two documents that differ
 * only in texts are equal in this form.
 */
export function withoutTexts(document: Document): Document {
  return strip(document, false) as Document;
}

function strip(node: unknown, isMap: boolean): unknown {
  if (Array.isArray(node)) return node.map((item) => strip(item, false));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => isMap || !TEXTS.has(key));
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (!isMap && DATA.has(key)) return [key, value];
      return [key, strip(value, !isMap && MAPS.has(key) && !Array.isArray(value))];
    }),
  );
}

/** The same value with the keys of each object in alphabetical order. */
export function sortedKeys(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(sortedKeys);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, value]) => [key, sortedKeys(value)]));
}
