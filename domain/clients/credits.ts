import type { ClientChange, PlanTerms } from '../../db/queries/clients/clients.ts';
import type { HeldClient } from './changeSubscription.ts';
import { nextCreditRenewal, type PeriodState } from './creditSchedule.ts';

/** When credits are granted, and what with. */
export interface CreditGrant {
  /** The moment that they are granted for: the next renewal follows it. */
  from: Date;
  /** Whether a period begins with it, whose use is counted anew. */
  isPeriod: boolean;
  /** In place of the plan's. */
  credits?: number | undefined;
}

/** The included credits of a plan that begins. Those that are left of the one before it are over, except those that never expire. */
export async function beginCredits(
  held: HeldClient,
  plan: PlanTerms,
  period: PeriodState,
  grant: CreditGrant,
): Promise<ClientChange> {
  const next = nextCreditRenewal(plan, period, grant.from, held.timeZone);
  return { plan_id: plan.id, pending_plan_id: null, pending_plan_at: null, next_credit_renewal_at: next };
}

/** The included credits of a plan that goes on, granted anew if `isGranted`. */
export async function renewCredits(
  held: HeldClient,
  plan: PlanTerms,
  period: PeriodState,
  { isGranted, ...grant }: CreditGrant & { isGranted: boolean },
): Promise<ClientChange> {
  if (!isGranted) return {};
  return { next_credit_renewal_at: nextCreditRenewal(plan, period, grant.from, held.timeZone) };
}
