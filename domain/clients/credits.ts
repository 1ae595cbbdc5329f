import type { ClientChange, SubscriptionTerms } from '../../db/queries/clients/clients.ts';
import { closeIncludedLots, grantCredits, setAccountTerms, startUsagePeriod } from '../credits/credits.ts';
import type { HeldClient } from './changeSubscription.ts';
import { creditsExpireAt, nextCreditRenewal, type PeriodState } from './creditSchedule.ts';

/** When credits are granted, and what with. */
export interface CreditGrant {
  /** The moment that they are granted for: the next renewal follows it. */
  from: Date;
  /** Whether a period begins with it, whose use is counted anew. */
  isPeriod: boolean;
  /** In place of all that the plan includes. */
  credits?: number | undefined;
}

/** The included credits of a plan that begins. Those that are left of the one before it are over, except those that never expire. */
export async function beginCredits(
  held: HeldClient,
  plan: SubscriptionTerms,
  period: PeriodState,
  grant: CreditGrant,
): Promise<ClientChange> {
  const { trx, row } = held;
  const terms = { isUnlimited: plan.isUnlimited, mayUseExtra: plan.mayUseExtra };
  await setAccountTerms(trx, row.workspace_id, row.id, terms);
  if (grant.isPeriod) await startUsagePeriod(trx, row.workspace_id, row.id);
  const next = await grantIncluded(held, plan, period, grant);
  return { plan_id: plan.id, pending_plan_id: null, pending_plan_at: null, next_credit_renewal_at: next };
}

/** The included credits of a plan that goes on: granted anew if they are due. */
export async function renewCredits(
  held: HeldClient,
  plan: SubscriptionTerms,
  period: PeriodState,
  { isGranted, ...grant }: CreditGrant & { isGranted: boolean },
): Promise<ClientChange> {
  const { trx, row } = held;
  // The plan may have changed since it began.
  const terms = { isUnlimited: plan.isUnlimited, mayUseExtra: plan.mayUseExtra };
  await setAccountTerms(trx, row.workspace_id, row.id, terms);
  if (grant.isPeriod) await startUsagePeriod(trx, row.workspace_id, row.id);
  // A plan that got credits which renew after the client began it grants them with the next period.
  const isFirst =
    grant.isPeriod &&
    row.next_credit_renewal_at === null &&
    nextCreditRenewal(plan, period, grant.from, held.timeZone) !== null;
  if (!isGranted && !isFirst) return {};
  return { next_credit_renewal_at: await grantIncluded(held, plan, period, grant) };
}

/** Ends the included credits that have an expiry. */
export async function endCredits({ trx, row, key, now }: HeldClient): Promise<void> {
  await closeIncludedLots(trx, { workspaceId: row.workspace_id, clientId: row.id, key, now });
}

/** Grants what the plan includes in place of what is left. Returns when that is done again. */
async function grantIncluded(
  held: HeldClient,
  plan: SubscriptionTerms,
  period: PeriodState,
  { from, credits }: CreditGrant,
): Promise<Date | null> {
  const { trx, row, key, now, timeZone } = held;
  const next = nextCreditRenewal(plan, period, from, timeZone);
  await endCredits(held);
  if (plan.isUnlimited) return next;
  const lot = {
    workspaceId: row.workspace_id,
    clientId: row.id,
    expiresAt: creditsExpireAt(plan, period, next),
    key,
    now,
  };
  await grantCredits(trx, { ...lot, source: 'plan', amount: credits ?? plan.credits });
  if (credits === undefined) await grantCredits(trx, { ...lot, source: 'package', amount: plan.bonusCredits });
  return next;
}
