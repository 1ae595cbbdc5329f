/** Requests that begin in one turn of the event loop, of all workspaces together. */
const AT_ONCE = 2;

/**
 * Spreads the beginnings of requests over the turns of the event loop. What a request computes when it begins keeps the process from
 * everything else: reading its body, validation, the first query. When many come at once they wait, and workspaces take turns: a request
 * waits for one of each other workspace, and not for all that another one has sent. Without a backlog a request begins at once.
 */
export class RequestTurns {
  /** By workspace, the one whose turn it is first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Requests that have begun in this turn of the loop. */
  #begun = 0;
  #scheduled = false;

  /** Resolves when the next request of the workspace may begin; undefined when that is now. */
  take(workspaceId: string): Promise<void> | undefined {
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#advance);
    }
    if (this.#begun < AT_ONCE && this.#waiting.size === 0) {
      this.#begun += 1;
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const own = this.#waiting.get(workspaceId);
    if (own) own.push(resolve);
    else this.#waiting.set(workspaceId, [resolve]);
    return promise;
  }

  readonly #advance = (): void => {
    this.#begun = 0;
    this.#scheduled = this.#waiting.size > 0;
    if (!this.#scheduled) return;
    setImmediate(this.#advance);
    for (const [workspaceId, own] of [...this.#waiting.entries().take(AT_ONCE)]) {
      this.#begun += 1;
      this.#waiting.delete(workspaceId);
      own.shift()?.();
      // Behind the others.
      if (own.length > 0) this.#waiting.set(workspaceId, own);
    }
  };
}
