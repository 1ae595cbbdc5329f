const waiting: (() => void)[] = [];

/**
 * Waits for a turn of the event loop that no other caller has. After `setImmediate` alone everything that waits goes on in one turn, one
 * after the other, and nothing else is served meanwhile.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

/**
 * Makes something of each item, in stretches of `size` items, each of which has a turn of the event loop of its own. A list of one stretch is done
 * at once.
 */
export async function mapInTurns<Item, Made>(
  items: readonly Item[],
  size: number,
  make: (item: Item) => Made,
): Promise<Made[]> {
  if (items.length <= size) return items.map(make);
  const made: Made[] = [];
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await ownTurn();
    for (const item of items.slice(from, from + size)) made.push(make(item));
  }
  return made;
}

/** Work that yields between stretches of some milliseconds. */
export type Stretches<Result> = Generator<undefined, Result, undefined>;

/** Does the work, each stretch in a turn of the event loop of its own. */
export async function inTurns<Result>(work: Stretches<Result>): Promise<Result> {
  for (;;) {
    const stretch = work.next();
    if (stretch.done) return stretch.value;
    await ownTurn();
  }
}

/** Does the work at once. */
export function atOnce<Result>(work: Stretches<Result>): Result {
  for (;;) {
    const stretch = work.next();
    if (stretch.done) return stretch.value;
  }
}

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}
