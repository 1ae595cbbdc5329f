import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Milliseconds that a test waits for what must happen. Nothing that is tested takes that long, on a slow and busy machine neither: the limit
 * is there to say what was waited for when it never comes. It is below the time limit of a test in jest.config.js.
 */
export const PATIENCE_MS = 120_000;

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/** Reads again and again until `isDone` accepts what was read, and returns it. Throws after `timeoutMs` milliseconds, with what was read last. */
export async function poll<T>(
  read: () => T | Promise<T>,
  isDone: (found: T) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_MS)) {
    const found = await read();
    if (isDone(found)) return found;
    if (performance.now() > deadline)
      throw new Error(`Not within ${timeoutMs} ms: ${read}. Found last: ${JSON.stringify(found)}`);
    await sleep(pauseMs);
  }
}

/** Waits until `read` returns something that is neither false nor undefined, and returns it. Throws after `timeoutMs` milliseconds. */
export async function until<T>(read: () => T | Promise<T>, timeoutMs?: number): Promise<Exclude<T, false | undefined>> {
  const found = await poll(read, (each) => each !== false && each !== undefined, timeoutMs);
  return found as Exclude<T, false | undefined>;
}
