import { sql } from 'kysely';
import { type CheckoutRow, selectPassedCheckouts } from '../../db/queries/payments/checkouts.ts';
import {
  closePaymentIntent,
  type PaymentIntentRow,
  postponePaymentIntent,
  selectDueIntents,
} from '../../db/queries/payments/intents.ts';
import type { PaymentProvider, SubscriptionState } from '../../integrations/payments/provider.ts';
import type { WorkspaceContext } from '../context.ts';
import { completePayment, endCheckout } from './completeCheckout.ts';
import { healIntent } from './heal.ts';
import { accountOf, findHubPayments, paymentsOf, providerFor } from './paymentsOf.ts';
import { settleSubscription } from './settleSubscription.ts';

/** A run looks at no more of one kind: it makes at most some hundred calls, and runs once a minute. */
const MAX_AT_ONCE = 10;
/** Pages of a hundred subscriptions that are compared in one night. */
const MAX_PAGES = 50;
const MINUTE_MS = 60_000;
const MAX_PAUSE_MS = 6 * 60 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A subscription that is not the same here and there. */
export interface SubscriptionDifference {
  subscriptionId: string;
  clientId: string | null;
  /** `unknown`: no client has it. `missing`: the provider does not list it. `status`: a word for each side. */
  difference: 'unknown' | 'missing' | 'status';
  here: string | null;
  there: string | null;
}

/** Heals what is due in a workspace. Returns the differences of its subscriptions, if they were compared. */
export async function healPaymentsOf(
  context: WorkspaceContext,
  signal: AbortSignal,
): Promise<SubscriptionDifference[]> {
  const { db, workspaceId, clock } = context;
  for (const intent of await selectDueIntents(db, workspaceId, clock.now(), MAX_AT_ONCE)) {
    signal.throwIfAborted();
    await healOne(context, intent);
  }
  const hub = await findHubPayments(db, workspaceId);
  const provider = accountOf(hub) ? paymentsOf(context, hub) : null;
  for (const row of await selectPassedCheckouts(db, workspaceId, clock.now(), MAX_AT_ONCE)) {
    signal.throwIfAborted();
    await endPassed(context, provider, row);
  }
  if (!provider || !(await takeComparison(context))) return [];
  return compareSubscriptions(context, provider, signal);
}

async function healOne(context: WorkspaceContext, intent: PaymentIntentRow): Promise<void> {
  const { db, runtime, clock } = context;
  try {
    // For the account that it was made for, also if the hub has another one by now.
    await healIntent(context, providerFor(runtime, { account: intent.account, feePercent: null }), intent);
    await closePaymentIntent(db, intent, 'undone');
  } catch (error) {
    const pauseMs = Math.min(MAX_PAUSE_MS, MINUTE_MS * 2 ** Math.min(intent.attempts, 20));
    const reason = Error.isError(error) ? error.message.slice(0, 500) : 'It could not be healed.';
    await postponePaymentIntent(db, intent, { dueAt: new Date(clock.now().getTime() + pauseMs), reason });
  }
}

/** A checkout whose time has passed: its page has expired there, unless it was paid and no event has told of it. */
async function endPassed(context: WorkspaceContext, provider: PaymentProvider | null, row: CheckoutRow): Promise<void> {
  const sessionId = row.provider_session_id;
  const state = sessionId === null ? undefined : await provider?.findCheckout(sessionId);
  // Its page expires a moment later by the provider's clock.
  if (state?.status === 'open') return;
  if (state?.status !== 'complete') await endCheckout(context, row.id);
  else if (provider && state.subscriptionId !== null)
    await settleSubscription(context, provider, { subscriptionId: state.subscriptionId, cause: `checkout:${row.id}` });
  else if (state.isPaid) await completePayment(context, state);
}

/** Whether it is time to compare, and nobody else has begun to. */
async function takeComparison({ db, workspaceId, clock }: WorkspaceContext): Promise<boolean> {
  const now = clock.now();
  const taken = await sql`
    update hubs set payments_compared_at = ${now}
    where workspace_id = ${workspaceId}
      and (payments_compared_at is null or payments_compared_at <= ${new Date(now.getTime() - DAY_MS)})
    returning 1`.execute(db);
  return taken.rows.length > 0;
}

/** What a status there should be here; a suspended client may have any. */
const HERE: Partial<Record<SubscriptionState['status'], readonly string[]>> = {
  active: ['active', 'suspended'],
  trialing: ['active', 'trialing', 'suspended'],
  past_due: ['past_due', 'suspended'],
  unpaid: ['past_due', 'suspended'],
  paused: ['past_due', 'suspended'],
};

/** Compares the clients that have a subscription with what the provider lists. Changes nothing. */
export async function compareSubscriptions(
  { db, workspaceId }: WorkspaceContext,
  provider: PaymentProvider,
  signal: AbortSignal,
): Promise<SubscriptionDifference[]> {
  const there = new Map<string, SubscriptionState>();
  let after: string | undefined;
  let isWhole = false;
  for (let page = 0; page < MAX_PAGES && !isWhole; page += 1) {
    signal.throwIfAborted();
    const { subscriptions, hasMore } = await provider.listSubscriptions(after);
    for (const each of subscriptions) there.set(each.id, each);
    after = subscriptions.at(-1)?.id;
    isWhole = !hasMore || after === undefined;
  }
  const clients = await db
    .selectFrom('clients')
    .select(['id', 'status', 'provider_subscription_id'])
    .where('workspace_id', '=', workspaceId)
    .where('provider_subscription_id', 'is not', null)
    .where('deleted_at', 'is', null)
    .execute();
  const differences: SubscriptionDifference[] = [];
  for (const { id: clientId, status: here, provider_subscription_id } of clients) {
    const subscriptionId = provider_subscription_id ?? '';
    const known = there.get(subscriptionId);
    there.delete(subscriptionId);
    const common = { subscriptionId, clientId, here };
    if (!known) {
      if (here !== 'canceled' && isWhole) differences.push({ ...common, difference: 'missing', there: null });
    } else if (!HERE[known.status]?.includes(here))
      differences.push({ ...common, difference: 'status', there: known.status });
  }
  for (const { id, status } of there.values()) {
    if (status === 'incomplete' || status === 'incomplete_expired' || status === 'canceled') continue;
    differences.push({ subscriptionId: id, clientId: null, difference: 'unknown', here: null, there: status });
  }
  return differences;
}
