import type { Clock } from '../../core/clock.ts';
import { lruCache } from '../../core/lruCache.ts';

const MINUTE_MS = 60_000;
const WINDOWS = 100_000;

/** Counts by key in windows of one minute, in this process. What was counted longest ago is forgotten when there are too many keys. */
export class MinuteWindows {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #windows = lruCache<string, { count: number; endsAt: number }>(WINDOWS);

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Counts one for the key. Returns undefined, or the seconds until its window ends when it has had `limit` already. */
  take(key: string, limit: number): number | undefined {
    const now = this.#clock.now().getTime();
    const known = this.#windows.get(key);
    const window = known && known.endsAt > now ? known : { count: 0, endsAt: now + MINUTE_MS };
    if (window.count >= limit) return Math.ceil((window.endsAt - now) / 1000);
    window.count += 1;
    this.#windows.set(key, window);
    return undefined;
  }
}
