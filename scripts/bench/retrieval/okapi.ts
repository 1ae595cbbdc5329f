/** How often each term stands in each text, and how long the texts are. */
export interface Index {
  documents: { terms: ReadonlyMap<string, number>; length: number }[];
  frequencies: Map<string, number>;
  averageLength: number;
}

const [K1, B] = [1.2, 0.75];

/** Counts the terms of texts. */
export function indexOf(texts: readonly (readonly string[])[]): Index {
  const frequencies = new Map<string, number>();
  const documents = texts.map((words) => {
    const terms = new Map<string, number>();
    for (const word of words) terms.set(word, (terms.get(word) ?? 0) + 1);
    for (const word of terms.keys()) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
    return { terms, length: words.length };
  });
  const averageLength = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, documents.length);
  return { documents, frequencies, averageLength };
}

/**
 * Positions of the texts that fit a query, best first: Okapi BM25 with k1 = 1.2 and b = 0.75 (Robertson, Zaragoza: The Probabilistic
 * Relevance Framework, 2009), with the inverse document frequency that cannot be negative, as Lucene has it.
 */
export function rankByOkapi({ documents, frequencies, averageLength }: Index, query: readonly string[]): number[] {
  const all = documents.length;
  const asked = new Set(query);
  return documents
    .map(({ terms, length }, position) => {
      let score = 0;
      for (const term of asked) {
        const often = terms.get(term) ?? 0;
        if (often === 0) continue;
        const df = frequencies.get(term) ?? 0;
        const idf = Math.log(1 + (all - df + 0.5) / (df + 0.5));
        score += (idf * often * (K1 + 1)) / (often + K1 * (1 - B + (B * length) / averageLength));
      }
      return { position, score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ position }) => position);
}
