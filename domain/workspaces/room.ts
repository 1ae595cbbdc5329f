import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type LimitedThing, type ReachedLimit, reserveRoom } from '../../db/queries/workspaces/limits.ts';
import type { DB } from '../../generated/db.ts';

/** When a client may ask again: something must be deleted first. */
const RETRY_AFTER_SECONDS = '60';

const NAMES: Readonly<Record<LimitedThing, string>> = {
  skill: 'skills',
  external_mcp: 'MCP servers',
  knowledge_source: 'knowledge sources',
  automation: 'automations',
};

/**
 * Reserves room in the workspace for one more thing with `bytes` of files, until the transaction ends. `thing` null: for files of which there
 * are a few at most. Throws RATE_LIMITED with
 * `Retry-After` when a limit of the workspace leaves none.
 */
export async function takeRoom(
  trx: Transaction<DB>,
  workspaceId: string,
  thing: LimitedThing | null,
  { bytes = 0, now }: { bytes?: number; now: Date },
): Promise<void> {
  const reached = await reserveRoom(trx, workspaceId, thing, { bytes, now });
  if (reached) throw fault('RATE_LIMITED', sentence(reached), { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
}

function sentence({ of, limit }: ReachedLimit): string {
  return of === 'storage'
    ? `The files of the workspace would exceed its limit of ${limit} bytes. Delete some that are not needed.`
    : `The workspace has as many ${NAMES[of]} as its limit of ${limit} allows. Delete one that is not needed.`;
}
