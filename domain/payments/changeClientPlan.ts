import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findPlan, type PlanRow } from '../../db/queries/billing/plans.ts';
import { type ClientRow, findClient, lockClient } from '../../db/queries/clients/clients.ts';
import { inTransaction } from '../../db/transaction.ts';
import { changePlanAtPeriodEnd, changePlanNow, startPlan } from '../clients/subscription.ts';
import { requireSeats } from '../clients/users.ts';
import { findMirroredPlan, type MirroredPlanRow } from './mirror.ts';
import { type MirrorContext, mirrorPlan } from './mirrorPlan.ts';
import { withIntent } from './withIntent.ts';

/** When a client's plan changes. */
export type PlanChangeTime = 'now' | 'period_end';

/** Which client gets which plan. */
export interface ClientPlanChange {
  clientId: string;
  planId: string;
  /** Absent = an upgrade now, and everything else at the period's end. A trial and a period without an end change now. */
  at?: PlanChangeTime | undefined;
}

/**
 * Whether the plan costs more than the other one for a month, where both are paid again and again: prices are divided by the months that they are for.
 * Both have one currency.
 */
export function isUpgrade(from: PricedPlan, to: PricedPlan): boolean {
  const isRecurring = from.billing_type === 'recurring' && to.billing_type === 'recurring';
  return isRecurring && to.price_cents * monthsOf(from) > from.price_cents * monthsOf(to);
}

type PricedPlan = Pick<MirroredPlanRow, 'billing_type' | 'billing_interval_months' | 'price_cents'>;

/**
 * Changes the plan of a client that is active, past due or on trial. Now: the rest of the period is charged or credited at the payment provider, and the
 * credits of the new plan are there in full. At the period's end: the next invoice has the other price, and with it the plan begins. The plan that the
 * client has takes back a change that was to come. Without a provider subscription nothing is charged: the agency sends its own invoice. A
 * trial ends, and the plan begins. Returns the client, and when its plan changes.
 *
 * Throws CLIENT_NOT_FOUND, CLIENT_NOT_ACTIVE, PLAN_NOT_FOUND, PLAN_RULE_VIOLATED with the reason, SEATS_LIMIT_REACHED and PAYMENT_PROVIDER_ERROR. Then
 * nothing has changed, here or there.
 */
export async function changeClientPlan(
  context: MirrorContext,
  { clientId, planId, at: given }: ClientPlanChange,
): Promise<{ client: ClientRow; at: PlanChangeTime }> {
  const { db, workspaceId } = context;
  const before = requireChangeable(await findClient(db, workspaceId, clientId));
  const present = await findMirroredPlan(db, workspaceId, before.plan_id ?? '');
  const plan = await findPlan(db, workspaceId, planId);
  if (!present || !plan) throw fault('PLAN_NOT_FOUND');
  requireFitting(before, present, plan);
  const at = timeOf(before, { from: present, to: plan, given });
  if (at === 'period_end' && planId === before.pending_plan_id)
    throw refused('The client changes to this plan already.');
  // What is refused anyway does not reach the provider.
  await inTransaction(db, (trx) => requireSeats(trx, before, planId));
  const store = () => storeChange(context, before, { planId, at });
  const subscriptionId = before.provider_subscription_id;
  if (subscriptionId === null) return { client: await store(), at };
  requireChargeable(present, plan, at);
  const { provider_price_id: priceId } = await mirrorPlan(context, planId);
  if (priceId === null) throw refused('The plan has no price at the payment provider.');
  const client = await withIntent(
    context,
    { kind: at === 'now' ? 'plan_now' : 'plan_later', subjectId: clientId },
    {
      async make(provider, key) {
        const isBack = at === 'now' && before.pending_plan_id !== null && present.provider_price_id !== null;
        // The price there is already that of the plan which was to come, and the rest of the period would be credited by it.
        if (isBack)
          await provider.changeSubscriptionPlan(`${key}-back`, subscriptionId, present.provider_price_id ?? '', {
            prorate: false,
          });
        const { periodStart, periodEnd } = await provider.changeSubscriptionPlan(key, subscriptionId, priceId, {
          prorate: at === 'now',
        });
        return { periodStart, periodEnd };
      },
      store: (period) => storeChange(context, before, { planId, at, period }),
    },
  );
  return { client, at };
}

/** Stores the change, unless the client has changed since it was looked at. */
function storeChange(
  { db, workspaceId, clock }: MirrorContext,
  before: ClientRow,
  {
    planId,
    at,
    period,
  }: { planId: string; at: PlanChangeTime; period?: { periodStart: Date; periodEnd: Date } | null },
): Promise<ClientRow> {
  return inTransaction(db, async (trx) => {
    const client = requireChangeable(await lockClient(trx, workspaceId, before.id));
    const isSame =
      client.plan_id === before.plan_id &&
      client.pending_plan_id === before.pending_plan_id &&
      client.provider_subscription_id === before.provider_subscription_id;
    if (!isSame) throw refused('The client was changed at the same moment. Look at it, and try again.');
    await requireSeats(trx, client, planId);
    const change = { client, plan: { id: planId }, key: `change:${newId()}`, now: clock.now() };
    if (client.status === 'trialing') return startPlan(trx, { ...change, status: 'active' });
    if (at === 'period_end') return changePlanAtPeriodEnd(trx, change);
    return changePlanNow(trx, { ...change, ...(period ? { provider: period } : {}) });
  });
}

function requireChangeable(client: ClientRow | undefined): ClientRow {
  if (!client) throw fault('CLIENT_NOT_FOUND');
  if (!['active', 'past_due', 'trialing'].includes(client.status))
    throw fault('CLIENT_NOT_ACTIVE', `The client is ${client.status}: only the plan of an active one can be changed.`);
  return client;
}

function requireFitting(client: ClientRow, present: MirroredPlanRow, plan: PlanRow): void {
  const isTakenBack = plan.id === present.id && client.pending_plan_id !== null;
  if (plan.id === present.id && !isTakenBack && client.status !== 'trialing')
    throw refused('The client has this plan already.');
  if (isTakenBack) return;
  if (plan.status !== 'active') throw refused('The plan is not active.');
  if (plan.billing_type !== 'recurring') throw refused('A plan that is paid once is bought, not changed to.');
  if (plan.currency !== present.currency)
    throw refused(`The plan is paid in ${plan.currency}, and the client pays in ${present.currency}.`);
}

function timeOf(
  { status, plan_id: planId, period_end: periodEnd }: ClientRow,
  { from, to, given }: { from: MirroredPlanRow; to: PlanRow; given: PlanChangeTime | undefined },
): PlanChangeTime {
  // The client keeps its plan: nothing begins.
  if (to.id === planId && status !== 'trialing') return 'period_end';
  const hasNoEnd = status === 'trialing' || periodEnd === null;
  if (hasNoEnd && given === 'period_end')
    throw refused('No period follows the present one: the plan can only change now.');
  return given ?? (hasNoEnd || isUpgrade(from, to) ? 'now' : 'period_end');
}

/** What a subscription at the provider cannot do. */
function requireChargeable(present: MirroredPlanRow, plan: PlanRow, at: PlanChangeTime): void {
  if (plan.price_cents === 0)
    throw refused('The client has a subscription at the payment provider, which a free plan has not. Cancel it first.');
  // Stripe begins a period at once when the interval changes.
  if (at === 'period_end' && monthsOf(plan) !== monthsOf(present))
    throw refused('The payment provider changes to another interval only now.');
}

const monthsOf = (plan: PricedPlan) => plan.billing_interval_months;

const refused = (message: string) => fault('PLAN_RULE_VIOLATED', message);
