import type { Stripe } from 'stripe';
import { type CheckoutRequest, type CheckoutState, type PaymentProvider, PaymentProviderError } from '../provider.ts';
import { stripeAmount } from './amounts.ts';
import type { StripeCall } from './client.ts';
import { stripeIdOf, unlessMissing } from './missing.ts';
import { feeOf, INTENT } from './plans.ts';

/** In the metadata of sessions, subscriptions and payments: our row of `checkouts`. */
export const CHECKOUT = 'guildhall_checkout';

/** Pages on which buyers pay. */
export function stripeCheckouts(
  call: StripeCall,
  feePercent: number | null,
): Pick<PaymentProvider, 'createCheckout' | 'findCheckout' | 'findCheckoutOf' | 'expireCheckout'> {
  const find = async (sessionId: string) => {
    const session = await unlessMissing(
      call({}, (stripe, options) => stripe.checkout.sessions.retrieve(sessionId, {}, options)),
    );
    return session && stateOf(session);
  };
  return {
    async createCheckout(key, request) {
      const session = await call({ key: `${key}-session` }, (stripe, options) =>
        stripe.checkout.sessions.create(sessionOf(key, request, feePercent), options),
      );
      if (session.url === null) throw new PaymentProviderError('refused', 'The checkout page has no address.');
      return { sessionId: session.id, url: session.url };
    },
    findCheckout: find,
    async findCheckoutOf(paid) {
      const sessions = await call({}, (stripe, options) =>
        stripe.checkout.sessions.list(
          'paymentId' in paid
            ? { payment_intent: paid.paymentId, limit: 1 }
            : { subscription: paid.subscriptionId, limit: 1 },
          options,
        ),
      );
      const session = sessions.data[0];
      return session && stateOf(session);
    },
    async expireCheckout(key, sessionId) {
      try {
        const session = await call({ key: `${key}-expire` }, (stripe, options) =>
          stripe.checkout.sessions.expire(sessionId, undefined, options),
        );
        return stateOf(session);
      } catch (error) {
        // Only an open page can be closed: this one was paid, or has expired.
        if (!(error instanceof PaymentProviderError) || !['refused', 'missing'].includes(error.failure)) throw error;
        return find(sessionId);
      }
    },
  };
}

function stateOf(session: Stripe.Checkout.Session): CheckoutState {
  return {
    sessionId: session.id,
    url: session.url,
    status: session.status === 'complete' ? 'complete' : session.status === 'expired' ? 'expired' : 'open',
    isPaid: session.payment_status === 'paid' || session.payment_status === 'no_payment_required',
    checkoutId: session.client_reference_id ?? session.metadata?.[CHECKOUT] ?? null,
    customerId: stripeIdOf(session.customer),
    subscriptionId: stripeIdOf(session.subscription),
    paymentId: stripeIdOf(session.payment_intent),
  };
}

function sessionOf(
  key: string,
  request: CheckoutRequest,
  feePercent: number | null,
): Stripe.Checkout.SessionCreateParams {
  const { item, checkoutId, workspaceId, currency, currencyDigits } = request;
  const metadata = { [CHECKOUT]: checkoutId, guildhall_workspace: workspaceId, [INTENT]: key };
  const percent = feePercent ?? 0;
  const line: Stripe.Checkout.SessionCreateParams.LineItem =
    item.kind === 'extra_credits'
      ? {
          quantity: 1,
          price_data: {
            currency: item.currency.toLowerCase(),
            unit_amount: stripeAmount(item.amountCents, item.currency, item.currencyDigits),
            product_data: { name: item.name },
          },
        }
      : { quantity: 1, price: item.priceId };
  const total = stripeAmount(request.totalCents, currency, currencyDigits);
  return {
    mode: item.kind === 'recurring' ? 'subscription' : 'payment',
    line_items: [line],
    client_reference_id: checkoutId,
    metadata,
    ...(request.customerId === null ? { customer_email: request.email } : { customer: request.customerId }),
    ...(request.couponId === null ? {} : { discounts: [{ coupon: request.couponId }] }),
    ...(item.kind === 'recurring'
      ? { subscription_data: { metadata, ...(percent > 0 ? { application_fee_percent: percent } : {}) } }
      : {
          ...(request.customerId === null ? { customer_creation: 'always' as const } : {}),
          payment_intent_data: {
            metadata,
            ...(percent > 0 && feeOf(total, percent) > 0 ? { application_fee_amount: feeOf(total, percent) } : {}),
          },
        }),
    branding_settings: {
      display_name: request.brand.name.slice(0, 100),
      ...(request.brand.color === null ? {} : { button_color: request.brand.color }),
    },
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
    expires_at: Math.floor(request.expiresAt.getTime() / 1000),
  };
}
