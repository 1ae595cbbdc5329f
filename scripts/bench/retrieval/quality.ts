/** How well a ranking answers: the mean reciprocal rank of the first right passage among ten, and the share of questions with one among five. */
export interface Quality {
  mrr: number;
  recall: number;
}

const RESAMPLES = 2_000;

/** @param right of each question, whether each passage that was found answers it, best first */
export function qualityOf(right: readonly (readonly boolean[])[]): Quality {
  return { mrr: mean(right.map(reciprocalRank)), recall: mean(right.map(isAmongFive)) };
}

/**
 * Between what the difference of two rankings in MRR lies with a probability of 95 %, by the bootstrap: the questions are drawn anew, with repetition. An interval with 0
 * in it says that the questions are too few to tell the rankings apart.
 */
export function intervalOfDifference(
  right: readonly (readonly boolean[])[],
  other: readonly (readonly boolean[])[],
): [number, number] {
  const differences = right.map((found, index) => reciprocalRank(found) - reciprocalRank(other[index] ?? []));
  const random = numbers(1);
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(differences.map(() => differences[Math.floor(random() * differences.length)] ?? 0)),
  ).sort((a, b) => a - b);
  return [means[Math.floor(RESAMPLES * 0.025)] ?? 0, means[Math.floor(RESAMPLES * 0.975)] ?? 0];
}

function reciprocalRank(found: readonly boolean[]): number {
  const place = found.slice(0, 10).indexOf(true);
  return place < 0 ? 0 : 1 / (place + 1);
}

function isAmongFive(found: readonly boolean[]): number {
  return found.slice(0, 5).includes(true) ? 1 : 0;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Numbers from 0 to 1, the same in every run (the linear congruential generator of Numerical Recipes). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
