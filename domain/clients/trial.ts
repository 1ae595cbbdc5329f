import type { Kysely } from 'kysely';
import { fault } from '../../core/errors.ts';
import { holdTerms } from '../../db/queries/clients/clients.ts';
import { type HubRow, lockHub, updateHubRow } from '../../db/queries/hubs/hubs.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';

/** What a hub lets people try. */
export interface TrialOffer {
  planId: string;
  /** 1 to 365. */
  days: number;
}

/** Lets a hub offer a trial, or none (null). Trials that run go on as they began. Throws PLAN_NOT_FOUND. */
export function setTrial(db: Kysely<DB>, workspaceId: string, offer: TrialOffer | null, now: Date): Promise<HubRow> {
  return inTransaction(db, async (trx) => {
    // The hub before the plan, as everywhere: the plan may be deleted at the same time.
    await lockHub(trx, workspaceId, now);
    if (offer && !(await holdTerms(trx, workspaceId, offer.planId))) throw fault('PLAN_NOT_FOUND');
    const trial = { trial_plan_id: offer?.planId ?? null, trial_days: offer?.days ?? null };
    return updateHubRow(trx, workspaceId, { ...trial, updated_at: now });
  });
}
