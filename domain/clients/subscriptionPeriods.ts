import type { ClientChange, ClientRow, SubscriptionTerms } from '../../db/queries/clients/clients.ts';
import { type HeldClient, heldPlan, presentPlan } from './changeSubscription.ts';
import { type PeriodState, PROVIDER_SLACK_MS } from './creditSchedule.ts';
import { beginCredits } from './credits.ts';
import { addMonths, nextOccurrence } from './period.ts';

/** A period as the payment provider counts it. */
export interface ProviderPeriod {
  periodStart: Date;
  periodEnd: Date;
}

/** Begins the plan that the client was to change to, with a period that starts at `periodStart`. */
export async function beginPendingPlan(
  held: HeldClient,
  status: ClientRow['status'],
  periodStart: Date,
  periodEnd: Date | null,
): Promise<ClientChange> {
  const plan = await heldPlan(held, held.row.pending_plan_id ?? '');
  const isFromProvider = isProviders(held.row);
  const end = isFromProvider ? periodEnd : endOfFirst(plan, periodStart, held.timeZone);
  return beginPeriodOn(held, plan, {
    status,
    periodStart,
    periodEnd: end,
    anchor: periodStart,
    isProviders: isFromProvider,
  });
}

/** Changes the client to the plan: its period goes on if it may, else one begins. */
export async function changeNow(
  held: HeldClient,
  plan: SubscriptionTerms,
  provider?: ProviderPeriod,
): Promise<ClientChange> {
  const { row, now, timeZone } = held;
  const before = await presentPlan(held);
  const present = periodOf(row);
  const goesOn =
    present && before?.billingType === plan.billingType && before.intervalMonths === plan.intervalMonths
      ? present
      : undefined;
  if (goesOn && !provider) return beginCredits(held, plan, goesOn, { from: now, isPeriod: false });
  if (
    goesOn &&
    provider &&
    Math.abs(provider.periodStart.getTime() - goesOn.periodStart.getTime()) <= PROVIDER_SLACK_MS
  ) {
    const period = { ...goesOn, periodEnd: provider.periodEnd };
    return {
      period_end: provider.periodEnd,
      ...(await beginCredits(held, plan, period, { from: now, isPeriod: false })),
    };
  }
  const periodStart = provider?.periodStart ?? now;
  const periodEnd = provider?.periodEnd ?? endOfFirst(plan, periodStart, timeZone);
  const { status } = row;
  return beginPeriodOn(held, plan, {
    status,
    periodStart,
    periodEnd,
    anchor: periodStart,
    isProviders: isProviders(row),
  });
}

/** Begins a period on a plan that the client did not have, or not without a break. */
export async function beginPeriodOn(
  held: HeldClient,
  plan: SubscriptionTerms,
  period: PeriodState,
  credits?: number,
): Promise<ClientChange> {
  const { periodStart, periodEnd, anchor } = period;
  return {
    period_start: periodStart,
    period_end: periodEnd,
    billing_anchor: anchor,
    ...(await beginCredits(held, plan, period, { from: periodStart, isPeriod: true, credits })),
  };
}

/** The end of a period that begins a plan; null = it has none. */
export function endOfFirst(plan: SubscriptionTerms, start: Date, timeZone: string): Date | null {
  return plan.billingType === 'one_time' ? null : addMonths(start, plan.intervalMonths, timeZone);
}

/** From when the months of a renewed period are counted: as before, unless the payment provider counts otherwise. */
export function anchorOf(row: ClientRow, plan: SubscriptionTerms, periodStart: Date, timeZone: string): Date {
  const anchor = row.billing_anchor;
  if (!anchor || !isProviders(row) || plan.intervalMonths === 0) return anchor ?? periodStart;
  const early = new Date(periodStart.getTime() - PROVIDER_SLACK_MS);
  const counted = nextOccurrence(anchor, plan.intervalMonths, early, timeZone);
  return Math.abs(counted.getTime() - periodStart.getTime()) <= PROVIDER_SLACK_MS ? anchor : periodStart;
}

/** The client's present period; undefined when it has none. */
export function periodOf(row: ClientRow): PeriodState | undefined {
  const { status, period_start: periodStart, period_end: periodEnd, billing_anchor: anchor } = row;
  return periodStart && anchor ? { status, periodStart, periodEnd, anchor, isProviders: isProviders(row) } : undefined;
}

/** Whether a payment provider holds the client's subscription, and so says when its periods begin. */
export function isProviders(row: ClientRow): boolean {
  return row.provider_subscription_id !== null;
}

/** Milliseconds by which the provider's times may differ from ours. */
export function slackOf(row: ClientRow): number {
  return isProviders(row) ? PROVIDER_SLACK_MS : 0;
}

/** Whether a time has come, but for `slackMs`. */
export function isDue(at: Date | null, now: Date, slackMs: number): boolean {
  return at !== null && at.getTime() <= now.getTime() + slackMs;
}
