import { itemOf, priceOf, type StripeBilling } from './billing.ts';
import { checkFee } from './catalogue.ts';
import { metadataOf, refOf, type StripeState } from './state.ts';
import { part, parts, StripeRefusal, type StripeRequest, type Thing, text, whole } from './wire.ts';

/** Customers, checkout pages, subscriptions, invoices and payments. Returns undefined for another endpoint. */
export function sales(state: StripeState, billing: StripeBilling, request: StripeRequest): unknown {
  const { method, path, form, query } = request;
  const [, kind = '', ...rest] = path.split('/');
  const [id = null, verb] = rest;
  const isNew = method === 'POST' && id === null;
  switch (kind) {
    case 'customers':
      if (isNew) return state.add('cus', 'customer', { email: text(form.email), metadata: metadataOf(form) });
      return state.get(id, 'customer');
    case 'checkout':
      return checkout(state, request, rest.slice(1));
    case 'subscriptions': {
      if (id === null)
        return state.list(
          'subscription',
          request,
          ({ status }) => text(query.status) === 'all' || status !== 'canceled',
        );
      const subscription = state.get(id, 'subscription');
      if (method === 'DELETE') {
        if (subscription.status === 'canceled')
          throw new StripeRefusal(404, { code: 'resource_missing', message: `No such subscription: '${id}'` });
        billing.end(subscription);
      } else if (method === 'POST' && verb === undefined) updateSubscription(state, billing, subscription, request);
      return shownSubscription(state, subscription, [
        ...parts(query.expand),
        ...Object.values(part(form.expand ?? query.expand)),
      ]);
    }
    case 'invoices':
      return state.get(id, 'invoice');
    case 'invoice_payments': {
      const payment = text(part(query.payment).payment_intent);
      return state.list(
        'invoice_payment',
        request,
        (each) => (each.payment as { payment_intent: string }).payment_intent === payment,
      );
    }
    case 'payment_intents':
      return state.get(id, 'payment_intent');
    case 'charges':
      return state.get(id, 'charge');
    case 'disputes':
      return state.list('dispute', request, ({ charge }) => charge === text(query.charge));
    case 'refunds':
      return state.list('refund', request);
    case 'files':
      return state.add('file', 'file', { purpose: 'business_icon' });
    case 'webhook_endpoints':
      if (isNew)
        return state.add('we', 'webhook_endpoint', {
          url: text(form.url),
          api_version: text(form.api_version),
          enabled_events: Object.values(part(form.enabled_events)),
          connect: form.connect === 'true',
          secret: 'whsec_made',
        });
      return state.list('webhook_endpoint', request);
    default:
      return undefined;
  }
}

function checkout(state: StripeState, request: StripeRequest, [id = null, verb]: (string | null)[]): unknown {
  const { method, form, query } = request;
  if (id === null && method === 'GET') {
    return state.list(
      'checkout.session',
      request,
      (session) =>
        (text(query.payment_intent) ?? session.payment_intent) === session.payment_intent &&
        (text(query.subscription) ?? session.subscription) === session.subscription,
    );
  }
  if (id === null) return newSession(state, request);
  const session = state.get(id, 'checkout.session');
  if (verb === 'expire') {
    if (session.status !== 'open')
      throw new StripeRefusal(400, { message: 'Only Checkout Sessions with a status of open can be expired.' });
    Object.assign(session, { status: 'expired', url: null });
    state.emit('checkout.session.expired', session);
  }
  return method === 'POST' && verb === undefined ? Object.assign(session, { metadata: metadataOf(form) }) : session;
}

function newSession(state: StripeState, request: StripeRequest): Thing {
  const { form } = request;
  const line = parts(form.line_items)[0] ?? {};
  const given = part(line.price_data);
  const price = text(line.price) === null ? null : state.get(text(line.price), 'price');
  if (price?.active === false) throw new StripeRefusal(400, { message: 'The price specified is inactive.' });
  const coupon = text(parts(form.discounts)[0]?.coupon);
  if (coupon !== null) state.get(coupon, 'coupon');
  if (text(form.customer) !== null) state.get(text(form.customer), 'customer');
  const expiresAt = whole(form.expires_at) ?? state.now() + 86_400;
  if (expiresAt < state.now() + 1800 || expiresAt > state.now() + 86_400)
    throw new StripeRefusal(400, { message: 'expires_at must be from 30 minutes to 24 hours from now.' });
  if ((form.mode === 'subscription') !== (price?.type === 'recurring'))
    throw new StripeRefusal(400, { message: 'The mode does not fit the price.' });
  const data = part(form.mode === 'subscription' ? form.subscription_data : form.payment_intent_data);
  checkFee(request, data.application_fee_percent ?? data.application_fee_amount);
  const session = state.add('cs_test', 'checkout.session', {
    mode: text(form.mode),
    status: 'open',
    payment_status: 'unpaid',
    url: '',
    client_reference_id: text(form.client_reference_id),
    customer: text(form.customer),
    customer_email: text(form.customer_email),
    metadata: metadataOf(form),
    success_url: text(form.success_url),
    cancel_url: text(form.cancel_url),
    expires_at: expiresAt,
    subscription: null as string | null,
    payment_intent: null as string | null,
    invoice: null as string | null,
    line: {
      price: price?.id ?? null,
      amount: Number(price?.unit_amount ?? whole(given.unit_amount)),
      currency: price?.currency ?? text(given.currency),
    },
    coupon,
    data: {
      metadata: metadataOf(data),
      feePercent: whole(data.application_fee_percent),
      feeAmount: whole(data.application_fee_amount),
    },
  });
  session.url = `https://checkout.stripe.test/${session.id}`;
  return session;
}

function updateSubscription(
  state: StripeState,
  billing: StripeBilling,
  subscription: Thing,
  { form }: StripeRequest,
): void {
  if (subscription.status === 'canceled')
    throw new StripeRefusal(400, { message: 'A canceled subscription can only update its cancellation_details.' });
  const line = parts(form.items)[0];
  if (line) {
    if (text(line.id) !== itemOf(subscription).id) throw new StripeRefusal(400, { message: 'No such item.' });
    const price = state.get(text(line.price), 'price');
    if (price.currency !== priceOf(subscription).currency)
      throw new StripeRefusal(400, { message: 'The currency cannot be changed.' });
    billing.change(subscription, price, form.proration_behavior === 'always_invoice');
  }
  const before: Record<string, unknown> = {};
  if ('cancel_at_period_end' in form) {
    before.cancel_at_period_end = subscription.cancel_at_period_end;
    subscription.cancel_at_period_end = form.cancel_at_period_end === 'true';
  }
  if ('pause_collection' in form) {
    before.pause_collection = subscription.pause_collection;
    subscription.pause_collection = form.pause_collection === '' ? null : part(form.pause_collection);
  }
  if (Object.keys(before).length > 0) state.emit('customer.subscription.updated', subscription, before);
}

function shownSubscription(state: StripeState, subscription: Thing, expand: unknown[]): Thing {
  if (!expand.includes('latest_invoice')) return subscription;
  return { ...subscription, latest_invoice: state.find(refOf(subscription, 'latest_invoice'), 'invoice') ?? null };
}
