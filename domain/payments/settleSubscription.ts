import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type ClientRow, findClient, lockClient } from '../../db/queries/clients/clients.ts';
import { lockCheckout } from '../../db/queries/payments/checkouts.ts';
import { findClientOfSubscription, findPlanOfPrice } from '../../db/queries/payments/grants.ts';
import { hasOpenPlanIntent } from '../../db/queries/payments/intents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { InvoiceState, PaymentProvider, SubscriptionState } from '../../integrations/payments/provider.ts';
import {
  cancelSubscription,
  changePlanNow,
  markPaid,
  markPastDue,
  renewPeriod,
  startPlan,
} from '../clients/subscription.ts';
import type { WorkspaceContext } from '../context.ts';
import { buyerOf, couponOf, markCompleted } from './completeCheckout.ts';
import { APPLIED, type EventOutcome, grantKeyOf, ignoredEvent } from './grantKeys.ts';

/** The provider is asked again so often when the client was changed while it answered. */
const MAX_LOOKS = 3;

/** What tells of a subscription. */
export interface SubscriptionNews {
  subscriptionId: string;
  /** The invoice that it tells of. */
  invoiceId?: string;
  /** The event, or the run of the reconciler. */
  cause: string;
}

/** What the provider says of a subscription now. */
interface Look {
  subscription: SubscriptionState;
  /** Paid ones that begin a period, oldest first. */
  invoices: (InvoiceState & { period: { start: Date; end: Date } })[];
  cause: string;
}

/**
 * Brings a client to what its subscription is at the provider now, whatever told of it and in whatever order: it begins, is renewed by each paid
 * invoice once, past due, paid again, changed to another plan, or ended. Throws PaymentProviderError.
 */
export async function settleSubscription(
  context: WorkspaceContext,
  provider: PaymentProvider,
  news: SubscriptionNews,
): Promise<EventOutcome> {
  const { db, workspaceId } = context;
  for (let looks = 1; ; looks += 1) {
    const knownId = await findClientOfSubscription(db, workspaceId, news.subscriptionId);
    const before = knownId === undefined ? undefined : await findClient(db, workspaceId, knownId);
    const look = await lookAt(provider, news);
    if (!look) return ignoredEvent('The provider has no such subscription.');
    const outcome = await inTransaction(db, async (trx) => {
      if (!before) return begin(trx, context, look);
      const client = await lockClient(trx, workspaceId, before.id);
      if (!client) return ignoredEvent('The client was deleted.');
      // What was asked before somebody else's change may be older than it.
      if (looks < MAX_LOOKS && stampOf(client) !== stampOf(before)) return undefined;
      await follow(trx, context, client, look);
      return APPLIED;
    });
    if (outcome) return outcome;
  }
}

const stampOf = (client: ClientRow) =>
  JSON.stringify([client.status, client.plan_id, client.pending_plan_id, client.period_end, client.updated_at]);

async function lookAt(provider: PaymentProvider, news: SubscriptionNews): Promise<Look | undefined> {
  const subscription = await provider.findSubscription(news.subscriptionId);
  if (!subscription) return undefined;
  const { latestInvoice } = subscription;
  const ids = new Set<string>();
  if (news.invoiceId !== undefined) ids.add(news.invoiceId);
  if (latestInvoice?.isPaid) ids.add(latestInvoice.id);
  const invoices: Look['invoices'] = [];
  for (const id of ids) {
    const invoice = await provider.findInvoice(id);
    if (!invoice?.isPaid || !invoice.beginsPeriod || invoice.subscriptionId !== subscription.id) continue;
    const period = invoice.period ?? { start: subscription.periodStart, end: subscription.periodEnd };
    invoices.push({ ...invoice, period });
  }
  invoices.sort((one, other) => one.period.start.getTime() - other.period.start.getTime());
  return { subscription, invoices, cause: news.cause };
}

/** A subscription that no client has: its checkout says who has bought it. It begins with the first paid invoice that is known. */
async function begin(trx: Transaction<DB>, context: WorkspaceContext, look: Look): Promise<EventOutcome> {
  const { workspaceId, clock } = context;
  const { subscription, invoices } = look;
  const { checkoutId, id: subscriptionId, customerId } = subscription;
  const row = checkoutId === null ? undefined : await lockCheckout(trx, workspaceId, checkoutId);
  if (row?.kind !== 'plan') return ignoredEvent('No checkout of this hub has begun the subscription.');
  if (row.status === 'completed') return ignoredEvent('The client has another subscription.');
  const [first] = invoices;
  if (!first) return ignoredEvent('Nothing is paid yet.');
  const client = await buyerOf(trx, context, row);
  if (!client) return ignoredEvent('The client was deleted.');
  const now = clock.now();
  const { start: periodStart, end: periodEnd } = first.period;
  const coupon = await couponOf(trx, row, { now: periodStart, periodEnd });
  const started = await startPlan(trx, {
    client,
    key: grantKeyOf.invoice(first.id),
    now,
    plan: { id: row.plan_id },
    status: 'active',
    provider: { customerId, subscriptionId, periodStart, periodEnd },
    ...(coupon ? { coupon } : {}),
  });
  await markCompleted(trx, row, client.id, now);
  await follow(trx, context, started, look);
  return APPLIED;
}

/** Brings a client to its subscription. Each step does nothing when the client is there already. */
async function follow(
  trx: Transaction<DB>,
  { workspaceId, clock }: WorkspaceContext,
  client: ClientRow,
  { subscription, invoices, cause }: Look,
): Promise<void> {
  const now = clock.now();
  let row = client;
  for (const { id, period } of invoices) {
    const change = { client: row, key: grantKeyOf.invoice(id), now };
    row = await renewPeriod(trx, { ...change, periodStart: period.start, periodEnd: period.end });
  }
  const { priceId, status, isPaused, periodStart, periodEnd } = subscription;
  const change = { client: row, key: `${status}:${cause}`, now };
  if (status === 'canceled' || status === 'incomplete_expired') {
    await cancelSubscription(trx, change);
    return;
  }
  const plan = priceId === null ? undefined : await findPlanOfPrice(trx, workspaceId, priceId);
  if (plan && plan.id !== row.plan_id && plan.id !== row.pending_plan_id) {
    // A change of ours is under way, and the client has not followed yet, or it is taken back: the event waits for what comes of it.
    if (await hasOpenPlanIntent(trx, workspaceId, row.id)) throw fault('UNAVAILABLE');
    const key = `plan:${plan.id}:${cause}`;
    await changePlanNow(trx, { ...change, key, plan, provider: { periodStart, periodEnd } });
  }
  const isOwed = status === 'past_due' || status === 'unpaid' || isPaused;
  if (isOwed) await markPastDue(trx, change);
  else if (status === 'active' || status === 'trialing') await markPaid(trx, change);
}
