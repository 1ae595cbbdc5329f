import type { ClientRow, SubscriptionTerms } from '../../db/queries/clients/clients.ts';
import { nextOccurrence } from './period.ts';

/** A payment provider counts months in UTC: what it ends differs from a time of ours by less than this. */
export const PROVIDER_SLACK_MS = 24 * 60 * 60 * 1000;

/** The period of a client and from when its months are counted. */
export interface PeriodState {
  status: ClientRow['status'];
  periodStart: Date;
  /** Null = it has no end. */
  periodEnd: Date | null;
  anchor: Date;
  /** Whether the periods are those of a subscription at the payment provider. */
  isProviders: boolean;
}

/** Whether another period follows when this one ends. */
export function isRenewed(plan: Pick<SubscriptionTerms, 'billingType'>, { status, periodEnd }: PeriodState): boolean {
  return periodEnd === null || (plan.billingType === 'recurring' && status !== 'trialing');
}

/**
 * When the included credits of a plan are granted again after `after`; null = they are not. Renewals are whole multiples of the package's
 * interval after the anchor. A first period whose end was set by hand ends at the anchor: until then they count from its start, and the
 * anchor is one as well. One that falls on the end of a period or after it is stored, and waits until the period is renewed.
 */
export function nextCreditRenewal(
  plan: SubscriptionTerms,
  period: PeriodState,
  after: Date,
  timeZone: string,
): Date | null {
  const { renewalMonths, isUnlimited, credits } = plan;
  if (renewalMonths === null || isUnlimited || credits === 0) return null;
  const { periodStart, periodEnd, anchor, isProviders } = period;
  let next: Date;
  if (after < anchor) {
    next = nextOccurrence(periodStart, renewalMonths, after, timeZone);
    if (next > anchor) next = anchor;
  } else next = nextOccurrence(anchor, renewalMonths, after, timeZone);
  if (periodEnd === null) return next;
  const isAtEnd = isProviders && Math.abs(next.getTime() - periodEnd.getTime()) < PROVIDER_SLACK_MS;
  if (isAtEnd) next = periodEnd;
  return next >= periodEnd && !isRenewed(plan, period) ? null : next;
}

/** When included credits expire that are granted now; null = never. Those of a trial end with it, whatever the package says. */
export function creditsExpireAt(
  plan: SubscriptionTerms,
  { status, periodEnd }: PeriodState,
  next: Date | null,
): Date | null {
  if (next !== null) return next;
  return plan.renewalMonths !== null || status === 'trialing' ? periodEnd : null;
}
