import {
  type PaymentEventRow,
  postponePaymentEvent,
  selectDueEvents,
  settlePaymentEvent,
} from '../../db/queries/payments/events.ts';
import { newsOf } from '../../integrations/payments/events.ts';
import { type PaymentProvider, PaymentProviderError } from '../../integrations/payments/provider.ts';
import type { WorkspaceContext } from '../context.ts';
import { completePayment, endCheckout } from './completeCheckout.ts';
import { type EventOutcome, ignoredEvent } from './grantKeys.ts';
import { accountOf, findHubPayments, providerFor } from './paymentsOf.ts';
import { settleSubscription } from './settleSubscription.ts';
import { takeBack } from './takeBack.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** When an event is tried again that could not be applied: for three days, as long as Stripe itself tries. */
const PAUSES_MS = [
  10 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  ...Array<number>(4).fill(2 * HOUR),
  ...Array<number>(10).fill(6 * HOUR),
];
const EVENTS_AT_ONCE = 20;
const MAX_REASON = 500;

/**
 * Applies the events of a workspace that are due, in the order in which they were made. One that fails waits, and the others go on. Events
 * that came meanwhile are applied as well, until none is due or the signal aborts.
 */
export async function applyEvents(context: WorkspaceContext, signal: AbortSignal): Promise<void> {
  const { db, workspaceId, clock } = context;
  for (;;) {
    const events = await selectDueEvents(db, workspaceId, clock.now(), EVENTS_AT_ONCE);
    if (events.length === 0) return;
    for (const event of events) {
      signal.throwIfAborted();
      await applyOne(context, event);
    }
  }
}

async function applyOne(context: WorkspaceContext, event: PaymentEventRow): Promise<void> {
  const { db, clock, runtime } = context;
  const now = clock.now();
  try {
    const outcome = await apply(context, event);
    const reason = outcome.status === 'ignored' ? outcome.reason : null;
    await settlePaymentEvent(db, event, { status: outcome.status, reason, now });
  } catch (error) {
    // The rows can be read again: a message of the database may have values of them.
    const known = error instanceof PaymentProviderError || (error as { status?: number }).status !== undefined;
    const reason = (known ? (error as Error).message : 'It could not be applied.').slice(0, MAX_REASON);
    runtime.logger?.warn(
      { err: error, workspaceId: event.workspace_id, eventId: event.id },
      'an event of payments was not applied',
    );
    const pauseMs = PAUSES_MS[event.attempts];
    if (pauseMs === undefined) await settlePaymentEvent(db, event, { status: 'failed', reason, now });
    else await postponePaymentEvent(db, event, { dueAt: new Date(now.getTime() + pauseMs), reason });
  }
}

/** Applies one event, whether or not it was applied before. Throws PaymentProviderError. */
async function apply(context: WorkspaceContext, event: PaymentEventRow): Promise<EventOutcome> {
  const { db, workspaceId, runtime } = context;
  const account = accountOf(await findHubPayments(db, workspaceId));
  const ofEvent = typeof event.payload.account === 'string' ? event.payload.account : null;
  if (!account || account.account !== ofEvent) return ignoredEvent('The hub is not paid through this account.');
  const news = newsOf(event.type, event.payload);
  if (!news) return ignoredEvent('Events of this type are not used.');
  const provider = providerFor(runtime, account);
  switch (news.kind) {
    case 'checkout':
      return applyCheckout(context, provider, event, news.sessionId);
    case 'subscription':
      return settleSubscription(context, provider, { ...news, cause: event.id });
    case 'invoice': {
      const { invoiceId } = news;
      const subscriptionId = news.subscriptionId ?? (await provider.findInvoice(invoiceId))?.subscriptionId;
      if (!subscriptionId) return ignoredEvent('The invoice is of no subscription.');
      return settleSubscription(context, provider, { subscriptionId, invoiceId, cause: event.id });
    }
    case 'charge':
      return takeBack(context, provider, { chargeId: news.chargeId, eventId: event.id });
  }
}

async function applyCheckout(
  context: WorkspaceContext,
  provider: PaymentProvider,
  event: PaymentEventRow,
  sessionId: string,
): Promise<EventOutcome> {
  const state = await provider.findCheckout(sessionId);
  if (!state?.checkoutId) return ignoredEvent('It is no checkout of this hub.');
  const isOver = state.status === 'expired' || (!state.isPaid && event.type.endsWith('async_payment_failed'));
  if (isOver) return endCheckout(context, state.checkoutId);
  const { subscriptionId } = state;
  if (subscriptionId !== null) return settleSubscription(context, provider, { subscriptionId, cause: event.id });
  return state.status === 'complete' && state.isPaid
    ? completePayment(context, state)
    : ignoredEvent('Nothing is paid yet.');
}
