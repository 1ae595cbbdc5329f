import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const EXAMPLES = join(import.meta.dirname, '../../../node_modules/@readme/oas-examples');

/** The text of a document that this folder has. */
export function apiDocument(name: 'github' | 'stripe'): Buffer {
  return brotliDecompressSync(readFileSync(join(import.meta.dirname, `${name}.json.br`)));
}

/** The text of an example of @readme/oas-examples, such as `2.0/json/petstore.json`. */
export function exampleDocument(path: string): Buffer {
  return readFileSync(join(EXAMPLES, path));
}
