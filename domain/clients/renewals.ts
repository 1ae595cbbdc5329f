import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type ClientKey, type ClientRow, holdTerms, lockClient } from '../../db/queries/clients/clients.ts';
import { findWorkspace } from '../../db/queries/workspaces/workspaces.ts';
import type { DB } from '../../generated/db.ts';
import { nextOccurrence } from './period.ts';
import { cancelSubscription, renewCreditsWithin, renewPeriod } from './subscription.ts';

/** What is due at one client that one transaction does: the rest stays due. */
const MAX_STEPS = 60;

/**
 * Does what is due at a client by itself: credits that are granted anew, and the end of a period that no payment provider renews. Then the pending
 * plan begins, or the same one goes on, or a trial and a plan that was paid once end as canceled. What was missed is done in its order. Each step
 * has the time that it was due as its key, so that it is done once, whoever does it. Returns the client as it is then.
 */
export async function advanceClient(trx: Transaction<DB>, client: ClientKey, now: Date): Promise<ClientRow> {
  const held = await lockClient(trx, client.workspace_id, client.id);
  if (!held) throw fault('CLIENT_NOT_FOUND');
  let row = held;
  for (let step = 0; step < MAX_STEPS && row.due_at !== null && row.due_at <= now; step += 1) {
    const before = row;
    row = await doDue(trx, row, row.due_at, now);
    // Nothing changed: the next look would find the same.
    if (row.due_at?.getTime() === before.due_at?.getTime()) throw new Error(`Client ${row.id} stays due`);
  }
  return row;
}

async function doDue(trx: Transaction<DB>, row: ClientRow, dueAt: Date, now: Date): Promise<ClientRow> {
  const at = dueAt.toISOString();
  const { period_end: periodEnd, billing_anchor: anchor } = row;
  if (dueAt.getTime() !== periodEnd?.getTime())
    return renewCreditsWithin(trx, { client: row, key: `credits:${at}`, now });
  const plan =
    row.plan_id === null ? undefined : await holdTerms(trx, row.workspace_id, row.plan_id, { withDeleted: true });
  const goesOn = row.status === 'active' && plan?.billingType === 'recurring';
  if (!goesOn && row.pending_plan_id === null) return cancelSubscription(trx, { client: row, key: `end:${at}`, now });
  const timeZone = (await findWorkspace(trx, row.workspace_id))?.time_zone ?? 'UTC';
  // A pending plan makes an end of its own from this one's.
  const end = nextOccurrence(anchor ?? periodEnd, Math.max(1, plan?.intervalMonths ?? 1), periodEnd, timeZone);
  return renewPeriod(trx, { client: row, periodStart: periodEnd, periodEnd: end, key: `period:${at}`, now });
}
