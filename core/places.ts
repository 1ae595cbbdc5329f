/** Too many calls wait for a place already. */
export class PlacesTaken extends Error {
  override readonly name = 'PlacesTaken';
}

/** How many calls run and wait. */
export interface PlaceLimits {
  /** Calls that run at the same time. */
  atOnce: number;
  /** Calls of one workspace that run at the same time. */
  ofOne: number;
  /** Calls of one workspace that wait. */
  waitingOfOne: number;
}

interface Share {
  running: number;
  waiting: (() => void)[];
}

/**
 * Places for calls that wait for something outside, shared by all workspaces. A workspace holds at most as many places as stay free, so
 * that another one finds a place at once. Where calls have to wait, workspaces take turns.
 */
export class Places {
  readonly #limits: PlaceLimits;
  /** Workspaces with calls, the one whose turn it is first. */
  readonly #shares = new Map<string, Share>();
  #running = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` as soon as there is a place for the workspace. Throws PlacesTaken when too many of its calls wait, and the signal's reason
   * when that ends the wait; `work` itself has to watch the signal.
   */
  async run<T>(workspaceId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const share = this.#shares.get(workspaceId) ?? { running: 0, waiting: [] };
    this.#shares.set(workspaceId, share);
    if (this.#hasPlace(share)) this.#begin(share);
    else await this.#wait(share, signal);
    try {
      return await work();
    } finally {
      share.running -= 1;
      this.#running -= 1;
      if (share.running === 0 && share.waiting.length === 0) this.#shares.delete(workspaceId);
      this.#fill();
    }
  }

  #hasPlace({ running }: Share): boolean {
    return running < this.#limits.ofOne && running < this.#limits.atOnce - this.#running;
  }

  #begin(share: Share): void {
    share.running += 1;
    this.#running += 1;
  }

  #wait(share: Share, signal: AbortSignal | undefined): Promise<void> {
    if (share.waiting.length >= this.#limits.waitingOfOne)
      throw new PlacesTaken('Too many calls of this workspace wait.');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      signal?.removeEventListener('abort', leave);
      this.#begin(share);
      resolve();
    };
    const leave = () => {
      share.waiting.splice(share.waiting.indexOf(begin), 1);
      reject(signal?.reason);
    };
    share.waiting.push(begin);
    signal?.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Gives the free places to waiting calls, one to each workspace in turn. */
  #fill(): void {
    for (let found = true; found; ) {
      found = false;
      for (const [workspaceId, share] of this.#shares) {
        if (share.waiting.length === 0 || !this.#hasPlace(share)) continue;
        share.waiting.shift()?.();
        // Behind the others.
        this.#shares.delete(workspaceId);
        this.#shares.set(workspaceId, share);
        found = true;
        break;
      }
    }
  }
}
