import { boundPassed } from '../../../core/jsonBounds.ts';
import { isFields } from './document.ts';
import { DOCUMENT_BOUNDS } from './documentText.ts';
import { pickOperations } from './pick.ts';

/** Characters of JSON that a document in a configuration may have as it is (`x-max-json-length` of `openapi`). */
const MAX_WHOLE_CHARS = 524_288;

/** The body of a request whose configuration has a large document. */
export interface ShrinkRequest {
  /** The path of a file with JSON in UTF-8. */
  file: string;
  /** Bytes that the body may have without what is left out of it. */
  limit: number;
}

/** The same body with less of the document; or why there is none: a bound that it passes, or what the parser says. */
export type Shrunk = { body: string } | { passed: 'values' | 'depth' | 'bytes' } | { invalid: string };

/**
 * Replaces a large document in the configuration of a body by the operations that are named beside it, and what they refer to. All else
 * stays as it is, however wrong it may be.
 */
export function shrinkBody(bytes: Uint8Array, limit: number): Shrunk {
  const shrunk = shrinkJson(bytes);
  // What makes it large is not its document. Such a body need not even be JSON.
  if ('body' in shrunk) return Buffer.byteLength(shrunk.body) > limit ? { passed: 'bytes' } : shrunk;
  return 'invalid' in shrunk && bytes.length > limit ? { passed: 'bytes' } : shrunk;
}

function shrinkJson(bytes: Uint8Array): Shrunk {
  const passed = boundPassed(bytes, DOCUMENT_BOUNDS);
  if (passed !== undefined) return { passed };
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { invalid: Error.isError(error) ? error.message : 'must be JSON' };
  }
  const configuration = isFields(body) ? body.configuration : undefined;
  if (!isFields(configuration) || !isFields(configuration.openapi)) return { body: JSON.stringify(body) };
  if (JSON.stringify(configuration.openapi).length > MAX_WHOLE_CHARS) {
    const named: unknown[] = Array.isArray(configuration.operations) ? configuration.operations.slice(0, 1_000) : [];
    configuration.openapi = pickOperations(
      configuration.openapi,
      named.filter((each) => typeof each === 'string'),
    );
  }
  return { body: JSON.stringify(body) };
}
