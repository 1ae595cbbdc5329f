import type { Kysely } from 'kysely';
import type { Clock } from '../core/clock.ts';
import { lruCache } from '../core/lruCache.ts';
import { findWorkspace } from '../db/queries/workspaces/workspaces.ts';
import type { DB } from '../generated/db.ts';

/** How long a limit is used without asking the database. */
const TRUST_MS = 5_000;
const WORKSPACES_REMEMBERED = 10_000;

/**
 * Reads how much background work a workspace may have at a time; null = it has no limit, or the database did not answer. `system` sees
 * all workspaces.
 */
export function backgroundLimitReader(
  system: Kysely<DB>,
  clock: Pick<Clock, 'now'>,
): (workspaceId: string) => Promise<number | null> {
  const perf = { now: () => clock.now().getTime() };
  const known = lruCache<string, { limit: number | null }>(WORKSPACES_REMEMBERED, {
    ttl: TRUST_MS,
    ttlResolution: 0,
    perf,
  });
  return async (workspaceId) => {
    const found = known.get(workspaceId);
    if (found) return found.limit;
    try {
      const limit = (await findWorkspace(system, workspaceId))?.background_limit ?? null;
      known.set(workspaceId, { limit });
      return limit;
    } catch {
      return null;
    }
  };
}
