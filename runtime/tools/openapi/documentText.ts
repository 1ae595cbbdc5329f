import { boundPassed, type JsonBounds } from '../../../core/jsonBounds.ts';

/** Bytes of a document. GitHub's has 13 MB, Stripe's 8 MB. */
export const MAX_DOCUMENT_BYTES = 24 * 1024 * 1024;
/** What is read of a document: GitHub's has 258,000 values in 21 levels, and 60 bytes of memory for each. */
export const DOCUMENT_BOUNDS: JsonBounds = { values: 1_500_000, depth: 200 };
/** A document of one author has a few of them. Each stands for a value that exists already. */
const MAX_ALIASES = 10_000;

/** The value of a document's text, or why there is none. */
export type ReadApiDocument = { value: unknown } | { problem: string };

const NO_DOCUMENT = 'must be the address of a JSON or YAML document';
const TOO_DEEP = 'must not nest that deeply';
const TOO_MANY = `must not have more than ${DOCUMENT_BOUNDS.values} values`;

/**
 * Reads a document: JSON or YAML in UTF-8, within DOCUMENT_BOUNDS. It takes a second for ten megabytes of YAML, and a fifth of that for JSON, so it
 * is done in a thread.
 */
export async function readApiDocument(bytes: Uint8Array): Promise<ReadApiDocument> {
  const text = new TextDecoder().decode(bytes);
  try {
    // YAML is nearly a superset of JSON, and much slower to read.
    if (text.trim() === '') return { value: null };
    return /^\s*[[{]/.test(text) ? readJson(bytes, text) : await readYaml(text);
  } catch (error) {
    return { problem: error instanceof RangeError ? TOO_DEEP : NO_DOCUMENT };
  }
}

function readJson(bytes: Uint8Array, text: string): ReadApiDocument {
  const passed = boundPassed(bytes, DOCUMENT_BOUNDS);
  if (passed !== undefined) return { problem: passed === 'depth' ? TOO_DEEP : TOO_MANY };
  return { value: JSON.parse(text) };
}

/** YAML 1.2, with the merge keys of 1.1: dates stay text. Of a key that a map has twice the last value counts, as in JSON. */
async function readYaml(text: string): Promise<ReadApiDocument> {
  const { CORE_SCHEMA, load, mergeTag } = await import('js-yaml');
  const schema = CORE_SCHEMA.withTags(mergeTag);
  const value = load(text, { schema, json: true, maxDepth: DOCUMENT_BOUNDS.depth, maxAliases: MAX_ALIASES });
  // Aliases share one value. Written out, a few lines of them can be more than any memory has.
  return valuesOf(value, new Map()) > DOCUMENT_BOUNDS.values ? { problem: TOO_MANY } : { value };
}

/** The values that there are with all aliases written out; infinite where a value contains itself. */
function valuesOf(value: unknown, known: Map<object, number>): number {
  if (typeof value !== 'object' || value === null) return 1;
  const counted = known.get(value);
  if (counted !== undefined) return counted;
  known.set(value, Number.POSITIVE_INFINITY);
  let sum = 1;
  for (const inner of Object.values(value)) sum += valuesOf(inner, known);
  known.set(value, sum);
  return sum;
}
