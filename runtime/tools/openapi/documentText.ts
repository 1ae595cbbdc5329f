import { boundPassed, type JsonBounds } from '../../../core/jsonBounds.ts';
import { cutText } from '../../../core/text.ts';

/** Bytes of a document. GitHub's has 13 MB, Stripe's 8 MB. */
export const MAX_DOCUMENT_BYTES = 24 * 1024 * 1024;
/** What is read of a document: GitHub's has 258,000 values in 21 levels, and 60 bytes of memory for each. */
export const DOCUMENT_BOUNDS: JsonBounds = { values: 1_500_000, depth: 200 };
/** A document of one author has a few of them. Each stands for a value that exists already. */
const MAX_ALIASES = 10_000;
/** Characters of what a parser says of a text. */
const MAX_REASON = 120;

/** The value of a document's text, or why there is none. */
export type ReadApiDocument = { value: unknown } | { problem: string };

const NO_DOCUMENT = 'must be the address of a JSON or YAML document';
const TOO_DEEP = 'must not nest that deeply';
const TOO_MANY = `must not have more than ${DOCUMENT_BOUNDS.values} values`;

/**
 * Reads a document: JSON or YAML in UTF-8 or UTF-16, within DOCUMENT_BOUNDS. It takes a second for ten megabytes of YAML, and a fifth of that for
 * JSON, so it is done in a thread.
 */
export async function readApiDocument(received: Uint8Array): Promise<ReadApiDocument> {
  const text = new TextDecoder(encodingOf(received)).decode(received);
  if (text.trim() === '') return { value: null };
  try {
    return /^\s*[[{]/.test(text) ? await readJson(text) : await readYaml(text);
  } catch (error) {
    const reason = reasonOf(error);
    const isDeep = error instanceof RangeError || /nesting exceeded/.test(reason);
    return { problem: isDeep ? TOO_DEEP : `${NO_DOCUMENT}: ${reason}` };
  }
}

/** UTF-8, or UTF-16 where the first character or its mark says so: YAML and old JSON may be written in either. */
function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8';
}

/** What a parser says of a text, with the line where it knows one. */
function reasonOf(error: unknown): string {
  const { reason, message, mark } = error as { reason?: string; message?: string; mark?: { line: number } };
  const said = cutText((reason ?? message ?? '').split('\n', 1)[0] ?? '', MAX_REASON);
  return mark ? `line ${mark.line + 1}: ${said}` : said;
}

/** YAML is nearly a superset of JSON, and much slower to read. What begins like JSON may be YAML in its braces. */
async function readJson(text: string): Promise<ReadApiDocument> {
  const passed = boundPassed(new TextEncoder().encode(text), DOCUMENT_BOUNDS);
  if (passed !== undefined) return { problem: passed === 'depth' ? TOO_DEEP : TOO_MANY };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return readYaml(text);
  }
}

/** YAML 1.2, with the merge keys of 1.1: dates stay text. Of a key that a map has twice the last value counts, as in JSON. */
async function readYaml(text: string): Promise<ReadApiDocument> {
  const { CORE_SCHEMA, load, mergeTag } = await import('js-yaml');
  const schema = CORE_SCHEMA.withTags(mergeTag);
  const options = { schema, json: true, maxDepth: DOCUMENT_BOUNDS.depth, maxAliases: MAX_ALIASES };
  let value: unknown;
  try {
    value = load(text, options);
  } catch (error) {
    if ((error as { reason?: string }).reason !== 'deficient indentation') throw error;
    const { indentBrackets } = await import('./flowIndent.ts');
    const indented = indentBrackets(text, MAX_DOCUMENT_BYTES);
    if (indented === undefined) throw error;
    value = load(indented, options);
  }
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
