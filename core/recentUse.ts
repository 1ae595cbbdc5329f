import { lruCache } from './lruCache.ts';

/** Workspaces that are remembered. */
const MAX_WORKSPACES = 2_000;
/** Milliseconds in which what was used counts for half. */
const HALF_LIFE_MS = 60_000;

/** How much each workspace used lately; what was used longer ago counts for less. */
export class RecentUse {
  readonly #uses = lruCache<string, { ms: number; at: number }>(MAX_WORKSPACES);

  /** Adds milliseconds that the workspace used just now. */
  add(workspaceId: string, ms: number): void {
    this.#uses.set(workspaceId, { ms: this.of(workspaceId) + ms, at: performance.now() });
  }

  /** Milliseconds; 0 of a workspace that used nothing. */
  of(workspaceId: string): number {
    const use = this.#uses.get(workspaceId);
    return use === undefined ? 0 : use.ms * 0.5 ** ((performance.now() - use.at) / HALF_LIFE_MS);
  }
}
