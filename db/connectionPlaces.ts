/** A workspace may hold this many times the connections that stay free for others. */
const SHARE = 3;
/** Of a workspace that holds fewer, none is refused that is free: work that holds one may need a second one. */
const ALWAYS = 2;

/** Lets one that waits for a connection go on. */
interface Waiter {
  admit(): void;
}

/**
 * Decides whose turn it is when connections are waited for. Workspaces take turns, and none holds them all: the more it holds, the
 * more must stay free, so that another one finds a connection at once (of 16, one workspace alone gets 12, two get 7 each).
 */
export class ConnectionPlaces {
  readonly #timeoutMs: number;
  readonly #held = new Map<string, number>();
  /** By workspace, the one whose turn it is first. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #free: number;
  #waiters = 0;

  /** `places` connections; who gets none within `timeoutMs` gets an error, as from a pool that is exhausted. */
  constructor(places: number, timeoutMs: number) {
    this.#free = places;
    this.#timeoutMs = timeoutMs;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiters;
  }

  /** Takes a place for the workspace; undefined when it has it at once. Rejects after the timeout. */
  take(workspaceId: string): Promise<void> | undefined {
    if (!this.#waiting.has(workspaceId) && this.#mayTake(workspaceId)) {
      this.#hold(workspaceId);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const own = this.#waiting.get(workspaceId) ?? new Set();
      const waiter = {
        admit() {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#leaveQueue(workspaceId, waiter);
        // In the words of the pool: db/errors.ts makes it a 503.
        reject(new Error('timeout exceeded when trying to connect'));
      }, this.#timeoutMs);
      this.#waiting.set(workspaceId, own.add(waiter));
      this.#waiters += 1;
    });
  }

  /** Gives a place of the workspace back, to the next workspace that may take it. */
  leave(workspaceId: string): void {
    const left = (this.#held.get(workspaceId) ?? 0) - 1;
    if (left > 0) this.#held.set(workspaceId, left);
    else this.#held.delete(workspaceId);
    this.#free += 1;
    for (const [next, own] of this.#waiting) {
      if (this.#free === 0) return;
      const [waiter] = own;
      if (!waiter || !this.#mayTake(next)) continue;
      this.#leaveQueue(next, waiter);
      // Behind the others.
      if (own.size > 0) {
        this.#waiting.delete(next);
        this.#waiting.set(next, own);
      }
      this.#hold(next);
      waiter.admit();
      return;
    }
  }

  #mayTake(workspaceId: string): boolean {
    const held = this.#held.get(workspaceId) ?? 0;
    return this.#free > 0 && (held < ALWAYS || held < SHARE * (this.#free - 1));
  }

  #hold(workspaceId: string): void {
    this.#held.set(workspaceId, (this.#held.get(workspaceId) ?? 0) + 1);
    this.#free -= 1;
  }

  #leaveQueue(workspaceId: string, waiter: Waiter): void {
    const own = this.#waiting.get(workspaceId);
    if (!own?.delete(waiter)) return;
    this.#waiters -= 1;
    if (own.size === 0) this.#waiting.delete(workspaceId);
  }
}
