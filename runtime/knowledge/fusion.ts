/** The constant k of Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009. A higher value makes the first ranks differ less. */
const K = 60;

/**
 * Merges ranked lists into one, best first. An entry's score is the sum over the lists of 1 / (60 + rank), divided by the maximum:
 * 1 = first in every list. Entries with the same key are the same. Equal scores keep the order of the first list.
 */
export function fuseRanks<T>(lists: readonly (readonly T[])[], keyOf: (entry: T) => string): (T & { score: number })[] {
  const merged = new Map<string, { entry: T; sum: number }>();
  for (const list of lists) {
    for (const [index, entry] of list.entries()) {
      const key = keyOf(entry);
      const known = merged.get(key);
      const share = 1 / (K + index + 1);
      if (known) known.sum += share;
      else merged.set(key, { entry, sum: share });
    }
  }
  const most = lists.length / (K + 1);
  return [...merged.values()].sort((a, b) => b.sum - a.sum).map(({ entry, sum }) => ({ ...entry, score: sum / most }));
}
