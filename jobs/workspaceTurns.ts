/** A workspace may hold this many times the places that stay free for others. */
const SHARE = 7;

/**
 * Decides which workspaces may start a job in a pool with a fixed number of places.
 *
 * Workspaces take turns: in one round each starts one job, so that one with hundreds of waiting jobs delays the first job of another
 * by no more than a round. And no workspace takes all places: the more it holds, the more must stay free, so that another one finds a
 * place at once (one workspace alone gets 56 of 64, two get 30 and 29).
 */
export class WorkspaceTurns {
  readonly #places: number;
  readonly #running = new Map<string, number>();
  /** Of workspaces that run jobs; those without a limit are not here. */
  readonly #limits = new Map<string, number>();
  readonly #served = new Set<string>();
  #total = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Places that no job holds. */
  get free(): number {
    return this.#places - this.#total;
  }

  /** Whether no workspace has started a job in this round. */
  get roundIsFresh(): boolean {
    return this.#served.size === 0;
  }

  /** Workspaces that may not start a job now: they had their turn in this round, or hold their share of the places. */
  excluded(): string[] {
    const excluded = new Set(this.#served);
    for (const [workspaceId, running] of this.#running)
      if (running >= Math.min(SHARE * (this.free - 1), this.#limits.get(workspaceId) ?? Infinity))
        excluded.add(workspaceId);
    return [...excluded];
  }

  /** Begins the next round: every workspace may start a job again. */
  startRound(): void {
    this.#served.clear();
  }

  /** A job of the workspace takes a place. */
  started(workspaceId: string): void {
    this.#served.add(workspaceId);
    this.#running.set(workspaceId, (this.#running.get(workspaceId) ?? 0) + 1);
    this.#total += 1;
  }

  /** Lets the workspace, which runs jobs, have no more than `limit` of them at a time; null = only the share that everyone has. */
  limit(workspaceId: string, limit: number | null): void {
    if (limit === null || !this.#running.has(workspaceId)) this.#limits.delete(workspaceId);
    else this.#limits.set(workspaceId, limit);
  }

  /** A job of the workspace gives its place back. */
  ended(workspaceId: string): void {
    const left = (this.#running.get(workspaceId) ?? 0) - 1;
    if (left > 0) this.#running.set(workspaceId, left);
    else {
      this.#running.delete(workspaceId);
      this.#limits.delete(workspaceId);
    }
    this.#total -= 1;
  }
}
