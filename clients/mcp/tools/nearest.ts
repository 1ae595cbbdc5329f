/** Names further off than this part of their length are no likely slip of the pen. */
const FAR = 0.5;

/** The known name that is most like a given one, by how many letters differ; undefined when none is like it. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  const wanted = plain(given);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const other = plain(name);
    const part = other.includes(wanted) || wanted.includes(other);
    const differing = part ? Math.abs(other.length - wanted.length) / 4 : distance(wanted, other);
    if (differing < least) [best, least] = [name, differing];
  }
  return least <= Math.max(given.length, best?.length ?? 0) * FAR ? best : undefined;
}

/** Capitals, hyphens and underscores are what names are mostly wrong in. */
function plain(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** How many letters must be put in, taken out or replaced to make one word of the other. */
function distance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[other.length] ?? 0;
}
