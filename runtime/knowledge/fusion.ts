/** A ranked list, best first, and how much it counts beside the others. */
export interface RankedList<T> {
  entries: readonly T[];
  weight: number;
  /**
   * Which score is worth nothing. `zero`: for scores that begin at 0. `last`: that of the last entry, for cosines, whose range is another
   * one with each model.
   */
  worthless: 'zero' | 'last';
}

/**
 * Merges ranked lists into one, best first. In each list the best score becomes 1 and the worthless one 0; an entry's new score is the sum
 * of these by weight, divided by the sum of the weights: 1 = first in every list. Entries with the same key are the same. Equal scores keep
 * the order of the first list.
 *
 * So a list whose first entries stand out decides, and one whose entries are all alike does not; ranks alone would hide that (Bruch, Gai,
 * Ingber: An Analysis of Fusion Functions for Hybrid Retrieval, 2023).
 */
export function fuseScores<T extends { score: number }>(
  lists: readonly RankedList<T>[],
  keyOf: (entry: T) => string,
): T[] {
  const merged = new Map<string, { entry: T; sum: number }>();
  for (const { entries, weight, worthless } of lists) {
    const best = entries[0]?.score ?? 0;
    const least = worthless === 'zero' ? 0 : (entries.at(-1)?.score ?? 0);
    for (const entry of entries) {
      const share = best > least ? weight * ((entry.score - least) / (best - least)) : weight;
      const key = keyOf(entry);
      const known = merged.get(key);
      if (known) known.sum += share;
      else merged.set(key, { entry, sum: share });
    }
  }
  const most = lists.reduce((sum, { weight }) => sum + weight, 0);
  return [...merged.values()].sort((a, b) => b.sum - a.sum).map(({ entry, sum }) => ({ ...entry, score: sum / most }));
}
