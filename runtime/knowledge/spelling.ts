/** Only the beginnings of longer words are compared. */
const COMPARED = 32;

/** Returns the number of inserted, deleted, replaced and swapped characters between two words (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  const a = [...one].slice(0, COMPARED);
  const b = [...other].slice(0, COMPARED);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** Whether a word may be a misspelling of another: one error up to five characters, two up to nine, then three. */
export function isMisspelling(word: string, meant: string): boolean {
  const length = [...word].length;
  return editDistance(word, meant) <= (length <= 5 ? 1 : length <= 9 ? 2 : 3);
}
