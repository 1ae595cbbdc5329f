import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A model whose vectors are in the folder `vectors`. */
export interface VectorModel {
  name: string;
  /** The languages that it was asked for. */
  languages: readonly string[];
  dimensions: number;
  isEnglishOnly?: boolean;
}

/** See `vectors/README.md`. */
export const VECTOR_MODELS: readonly VectorModel[] = [
  { name: 'use', languages: ['en', 'de', 'fr', 'it', 'ja'], dimensions: 512 },
  { name: 'minilm', languages: ['en', 'it'], dimensions: 384, isEnglishOnly: true },
];

const HASH_BYTES = 8;

/** The stored vectors of a model, by their texts. */
export class Vectors {
  readonly #byHash = new Map<string, { numbers: Int8Array; length: number }>();

  static async read({ name, dimensions }: VectorModel): Promise<Vectors> {
    const file = await readFile(join(import.meta.dirname, 'vectors', `${name}.bin`));
    const vectors = new Vectors();
    for (let at = 0; at < file.length; at += HASH_BYTES + dimensions) {
      const numbers = new Int8Array(file.buffer, file.byteOffset + at + HASH_BYTES, dimensions);
      const key = file.subarray(at, at + HASH_BYTES).toString('hex');
      vectors.#byHash.set(key, { numbers, length: Math.hypot(...numbers) });
    }
    return vectors;
  }

  /** The cosine of two texts. Throws where one of them has no vector. */
  cosine(one: string, other: string): number {
    const [a, b] = [this.#of(one), this.#of(other)];
    let product = 0;
    for (let at = 0; at < a.numbers.length; at += 1) product += (a.numbers[at] ?? 0) * (b.numbers[at] ?? 0);
    return product / (a.length * b.length);
  }

  #of(text: string) {
    const hash = createHash('sha256').update(text).digest().subarray(0, HASH_BYTES).toString('hex');
    const found = this.#byHash.get(hash);
    if (!found)
      throw new Error(
        `A text of the retrieval bench has no stored vector, because the books, their splitting or the questions have changed. scripts/bench/retrieval/vectors/README.md says how vectors are made anew. The text: ${text.slice(0, 100)}`,
      );
    return found;
  }
}
