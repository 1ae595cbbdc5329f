import type { Transaction } from 'kysely';
import type { ClientRow } from '../../db/queries/clients/clients.ts';
import type { DB } from '../../generated/db.ts';
import { changeSubscription, heldPlan, presentPlan, type SubscriptionChange } from './changeSubscription.ts';
import { endCredits, renewCredits } from './credits.ts';
import {
  anchorOf,
  beginPendingPlan,
  beginPeriodOn,
  changeNow,
  endOfFirst,
  isDue,
  isProviders,
  type ProviderPeriod,
  periodOf,
  slackOf,
} from './subscriptionPeriods.ts';

/** What a payment provider says of a subscription that it holds. */
export interface ProviderSubscription extends ProviderPeriod {
  customerId: string;
  subscriptionId: string;
}

/** What a client begins on. */
export interface PlanStart extends SubscriptionChange {
  plan: { id: string };
  status: 'active' | 'trialing';
  /** The end of the first period, from which later ones are counted; absent = as the plan says, and null for a plan that is paid once. A trial needs it. */
  periodEnd?: Date | undefined;
  /** Included credits to begin with in place of the plan's. Without effect when they are unlimited. */
  credits?: number | undefined;
  /** The coupon that lowers its price, and when that ends; null = not before the subscription does. */
  coupon?: { id: string; endsAt: Date | null } | undefined;
  provider?: ProviderSubscription;
}

/**
 * Begins a plan, with a period and credits of its own; what the client had is over. Without `provider` the service renews it by itself. A suspended
 * client gets the plan and stays suspended. Tells the same subscription of a provider twice: nothing happens the second time. Throws CLIENT_NOT_FOUND,
 * and PLAN_NOT_FOUND also for a deleted plan. Seats are the caller's to check (`requireSeats`).
 */
export function startPlan(trx: Transaction<DB>, start: PlanStart): Promise<ClientRow> {
  const {
    plan: { id },
    status: wanted,
    periodEnd: givenEnd,
    credits,
    coupon,
    provider,
  } = start;
  return changeSubscription(trx, wanted === 'trialing' ? 'start_trial' : 'start', start, async (held, status) => {
    const { row, now, timeZone } = held;
    if (provider && row.provider_subscription_id === provider.subscriptionId) return undefined;
    const plan = await heldPlan(held, id);
    const periodStart = provider?.periodStart ?? now;
    const period = {
      status: wanted,
      periodStart,
      periodEnd: provider?.periodEnd ?? givenEnd ?? endOfFirst(plan, periodStart, timeZone),
      anchor: provider ? periodStart : (givenEnd ?? periodStart),
      isProviders: provider !== undefined,
    };
    return {
      ...(await beginPeriodOn(held, plan, period, credits)),
      status,
      coupon_id: coupon?.id ?? null,
      coupon_ends_at: coupon?.endsAt ?? null,
      provider_subscription_id: provider?.subscriptionId ?? null,
      ...(provider ? { provider_customer_id: provider.customerId } : {}),
    };
  });
}

/**
 * Begins the next period. Included credits are granted anew if they are due with it, and a plan that the client was to change to begins. A past due client
 * is active again. A period that began before the present one changes nothing; the present one may only get a later end.
 */
export function renewPeriod(
  trx: Transaction<DB>,
  { periodStart, periodEnd, ...change }: SubscriptionChange & { periodStart: Date; periodEnd: Date },
): Promise<ClientRow> {
  return changeSubscription(trx, 'renew', change, async (held, status) => {
    const { row } = held;
    const slackMs = slackOf(row);
    const aheadMs = periodStart.getTime() - (row.period_start?.getTime() ?? 0);
    if (aheadMs < -slackMs) return undefined;
    if (aheadMs <= slackMs) return row.period_end && periodEnd > row.period_end ? { period_end: periodEnd } : {};
    if (isDue(row.pending_plan_at, periodStart, slackMs)) return beginPendingPlan(held, status, periodStart, periodEnd);
    const plan = await presentPlan(held);
    if (!plan) return undefined;
    const anchor = anchorOf(row, plan, periodStart, held.timeZone);
    const period = { status, periodStart, periodEnd, anchor, isProviders: isProviders(row) };
    const shifted = { period_start: periodStart, period_end: periodEnd, billing_anchor: anchor };
    const isGranted = isDue(row.next_credit_renewal_at, periodStart, slackMs);
    // What was due a moment after the start by our count is granted now, and not once more.
    const from = new Date(periodStart.getTime() + slackMs);
    return { ...shifted, ...(await renewCredits(held, plan, period, { from, isGranted, isPeriod: true })) };
  });
}

/** Grants included credits anew that are due within the period. */
export function renewCreditsWithin(trx: Transaction<DB>, change: SubscriptionChange): Promise<ClientRow> {
  return changeSubscription(trx, 'renew_credits', change, async (held) => {
    const plan = await presentPlan(held);
    const period = periodOf(held.row);
    const from = held.row.next_credit_renewal_at;
    if (!plan || !period || !from) return undefined;
    return renewCredits(held, plan, period, { from, isGranted: true, isPeriod: false });
  });
}

/**
 * The client changes to the plan when its period ends: its payments or the service's renewal begin it then. A period without an end ends now. The plan
 * that it has already takes a change back that was to come.
 */
export function changePlanAtPeriodEnd(
  trx: Transaction<DB>,
  { plan: { id }, ...change }: SubscriptionChange & { plan: { id: string } },
): Promise<ClientRow> {
  return changeSubscription(trx, 'change_plan', change, async (held) => {
    const { row } = held;
    const plan = await heldPlan(held, id);
    if (plan.id === row.plan_id) return { pending_plan_id: null, pending_plan_at: null };
    if (row.period_end === null) return changeNow(held, plan);
    return { pending_plan_id: plan.id, pending_plan_at: row.period_end };
  });
}

/**
 * The client changes to the plan now, and gets its credits in full; what is left of the old plan's is over. The period goes on if both plans
 * have the same interval, or is that of `provider`. Else one begins.
 */
export function changePlanNow(
  trx: Transaction<DB>,
  { plan: { id }, provider, ...change }: SubscriptionChange & { plan: { id: string }; provider?: ProviderPeriod },
): Promise<ClientRow> {
  return changeSubscription(trx, 'change_plan', change, async (held) => {
    const plan = await heldPlan(held, id);
    if (plan.id === held.row.plan_id) return { pending_plan_id: null, pending_plan_at: null };
    return changeNow(held, plan, provider);
  });
}

/** The payment of the current period failed: an active client is past due. */
export function markPastDue(trx: Transaction<DB>, change: SubscriptionChange): Promise<ClientRow> {
  return changeSubscription(trx, 'mark_past_due', change, () => ({}));
}

/** What was past due is paid. A payment that also begins a period is told to `renewPeriod`, which does this, too. */
export function markPaid(trx: Transaction<DB>, change: SubscriptionChange): Promise<ClientRow> {
  return changeSubscription(trx, 'mark_paid', change, () => ({}));
}

/**
 * The subscription has ended. The client is canceled; one that is suspended stays so, without a subscription at the payment provider, and can
 * be reactivated. The included credits of a canceled one are over, except those that never expire. Its plan is still shown. A plan that it was to
 * change to is forgotten.
 */
export function cancelSubscription(trx: Transaction<DB>, change: SubscriptionChange): Promise<ClientRow> {
  return changeSubscription(trx, 'cancel', change, async (held, status) => {
    const forgotten = { pending_plan_id: null, pending_plan_at: null };
    if (status === 'suspended') return { ...forgotten, provider_subscription_id: null };
    await endCredits(held);
    // Its subscription at the provider is kept: a late event that tells of its begin must not begin it again.
    return { ...forgotten, next_credit_renewal_at: null };
  });
}

/** Suspends an active client. `code` and `reason` are kept for the record. */
export function suspendSubscription(
  trx: Transaction<DB>,
  { code, reason, ...change }: SubscriptionChange & { code: ClientRow['suspension_code']; reason: string | null },
): Promise<ClientRow> {
  return changeSubscription(trx, 'suspend', change, ({ now }) => ({
    suspension_code: code,
    suspension_reason: reason,
    suspended_at: now,
  }));
}

/**
 * A suspended client is active again. Its period goes on if it has not ended, or if the payment provider holds its subscription, whose payments renew it.
 * Else a period begins now, on the plan that the client was to change to if there is one.
 */
export function resumeSubscription(trx: Transaction<DB>, change: SubscriptionChange): Promise<ClientRow> {
  return changeSubscription(trx, 'resume', change, async (held, status) => {
    const { row, now, timeZone } = held;
    const opened = { suspension_code: null, suspension_reason: null, suspended_at: null };
    if (isProviders(row) || row.period_end === null || row.period_end > now) return opened;
    const pending = row.pending_plan_id === null ? undefined : await heldPlan(held, row.pending_plan_id);
    const plan = pending ?? (await presentPlan(held));
    if (!plan) return opened;
    const periodEnd = endOfFirst(plan, now, timeZone);
    const period = { status, periodStart: now, periodEnd, anchor: now, isProviders: false };
    return { ...opened, ...(await beginPeriodOn(held, plan, period)) };
  });
}
