import type { Stripe } from 'stripe';
import { type PaymentProvider, PaymentProviderError, type SubscriptionState } from '../provider.ts';
import { CHECKOUT } from './checkout.ts';
import type { StripeCall } from './client.ts';
import { stripeIdOf, unlessMissing } from './missing.ts';

const EXPAND = ['latest_invoice'];

/** Subscriptions. */
export function stripeSubscriptions(
  call: StripeCall,
): Pick<
  PaymentProvider,
  'findSubscription' | 'listSubscriptions' | 'cancelAtPeriodEnd' | 'resume' | 'cancelNow' | 'changeSubscriptionPlan'
> {
  const find = (id: string) =>
    unlessMissing(call({}, (stripe, options) => stripe.subscriptions.retrieve(id, { expand: EXPAND }, options)));
  const update = (key: string, id: string, change: Stripe.SubscriptionUpdateParams) =>
    call({ key }, (stripe, options) => stripe.subscriptions.update(id, { ...change, expand: EXPAND }, options));

  return {
    async findSubscription(id) {
      const found = await find(id);
      return found && subscriptionOf(found);
    },
    async listSubscriptions(after) {
      const page = await call({}, (stripe, options) =>
        stripe.subscriptions.list({ limit: 100, ...(after === undefined ? {} : { starting_after: after }) }, options),
      );
      return { subscriptions: page.data.map(subscriptionOf), hasMore: page.has_more };
    },
    async cancelAtPeriodEnd(key, id) {
      await update(`${key}-cancel`, id, { cancel_at_period_end: true });
    },
    async resume(key, id) {
      await update(`${key}-resume`, id, { cancel_at_period_end: false, pause_collection: '' });
    },
    async cancelNow(key, id) {
      const found = await find(id);
      if (!found || found.status === 'canceled' || found.status === 'incomplete_expired') return;
      // The library sends DELETE, which has no idempotency key: a second one finds a subscription that is canceled.
      await unlessMissing(
        call({ key: `${key}-end` }, (stripe, options) => stripe.subscriptions.cancel(id, {}, options)),
      );
    },
    async changeSubscriptionPlan(key, id, priceId, { prorate }) {
      const present = await find(id);
      const item = present?.items.data[0];
      if (!present || !item) throw new PaymentProviderError('missing', 'There is no such subscription.');
      if (item.price.id === priceId) return subscriptionOf(present);
      const changed = await update(`${key}-plan`, id, {
        items: [{ id: item.id, price: priceId, quantity: 1 }],
        proration_behavior: prorate ? 'always_invoice' : 'none',
        // A charge that fails leaves the subscription as it was.
        ...(prorate ? { payment_behavior: 'error_if_incomplete' } : {}),
      });
      return subscriptionOf(changed);
    },
  };
}

/** Before 2025-03-31 a subscription itself had the period; since then its items have. */
interface WithPeriod {
  current_period_start?: number;
  current_period_end?: number;
}

function subscriptionOf(subscription: Stripe.Subscription): SubscriptionState {
  const items = subscription.items.data;
  const whole: WithPeriod = subscription as WithPeriod;
  const ends = items.map((item) => item.current_period_end ?? 0);
  const end = Math.max(...ends, whole.current_period_end ?? 0);
  const starts = items.map((item) => item.current_period_start ?? 0);
  const start = Math.max(...starts, whole.current_period_start ?? 0);
  const latest = subscription.latest_invoice;
  return {
    id: subscription.id,
    customerId: stripeIdOf(subscription.customer) ?? '',
    status: subscription.status as SubscriptionState['status'],
    priceId: items[0]?.price.id ?? null,
    periodStart: new Date(start * 1000),
    periodEnd: new Date(end * 1000),
    cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
    isPaused: subscription.pause_collection !== null || subscription.status === 'paused',
    checkoutId: subscription.metadata[CHECKOUT] ?? null,
    latestInvoice:
      latest === null
        ? null
        : typeof latest === 'string'
          ? { id: latest, isPaid: false }
          : { id: latest.id ?? '', isPaid: latest.status === 'paid' },
    createdAt: new Date(subscription.created * 1000),
  };
}
