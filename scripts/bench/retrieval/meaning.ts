/**
 * A stand-in for a search by meaning, to measure what fusing does: no model for embeddings can be had where the bench runs. It knows the answers, and hides
 * them in noise: each passage gets a number around 0, one that answers around `quality`. It says nothing of how well a real model searches.
 */
export function standIn(quality: number, seed: number): (isAnswer: boolean) => number {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 1) / (2 ** 32 + 1);
  };
  for (let warm = 0; warm < 10; warm += 1) random();
  // As cosines of texts lie: between 0 and 0.8 or so.
  return (isAnswer) =>
    0.3 + 0.08 * ((isAnswer ? quality : 0) + Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random()));
}

/** The qualities that are measured: from worse than words to almost always right. */
export const QUALITIES: readonly number[] = [2, 2.5, 3, 3.5, 4, 5];
