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

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}
