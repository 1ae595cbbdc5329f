import type { PaymentSettings } from '../../../integrations/payments/settings.ts';
import { StripeBilling } from './billing.ts';
import { catalogue } from './catalogue.ts';
import { NEW_VERSION, type StripeEvent } from './events.ts';
import { sales } from './sales.ts';
import { StripeState } from './state.ts';
import { StripeRefusal, type StripeRequest, serveStripe, type Thing } from './wire.ts';

/** An account of the stand-in, and what buyers, the agency and time do there. */
export class StripeAccountStandIn {
  readonly id: string | null;
  readonly state: StripeState;
  readonly billing: StripeBilling;
  readonly #now: () => number;

  constructor(id: string | null, state: StripeState) {
    this.id = id;
    this.state = state;
    this.#now = state.now;
    this.billing = new StripeBilling(state);
  }

  /** The buyer pays on the page. */
  pay(sessionId: string): Thing {
    const session = this.state.get(sessionId, 'checkout.session');
    if (session.status !== 'open') throw new Error(`The page is ${String(session.status)}`);
    const { price, amount, currency } = session.line as { price: string | null; amount: number; currency: string };
    const { metadata, feePercent } = session.data as { metadata: Record<string, string>; feePercent: number | null };
    const customer =
      (session.customer as string | null) ?? this.state.add('cus', 'customer', { email: session.customer_email }).id;
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null, customer });
    const coupon = session.coupon as string | null;
    if (session.mode === 'subscription') {
      const subscription = this.billing.subscribe({
        customer,
        price: this.state.get(price, 'price'),
        metadata,
        coupon,
        feePercent,
      });
      Object.assign(session, { subscription: subscription.id, invoice: subscription.latest_invoice });
    } else {
      const off = this.state.find(coupon, 'coupon');
      const discount = !off
        ? 0
        : off.percent_off
          ? Math.round((amount * Number(off.percent_off)) / 100)
          : Number(off.amount_off);
      const { payment } = this.billing.charge(Math.max(0, amount - discount), currency, { customer, metadata });
      session.payment_intent = payment.id;
    }
    this.state.emit('checkout.session.completed', session);
    return session;
  }

  /** Everything that is due until the clock's time happens. */
  passTime(): void {
    this.billing.passTime();
  }

  /** The card of a customer is refused from now on, or works again. */
  failCard(customer: unknown, fails = true): void {
    if (fails) this.billing.failing.add(String(customer));
    else this.billing.failing.delete(String(customer));
  }

  /** Stripe tries again to collect what is open. */
  retryPayments(): void {
    for (const invoice of this.state.all('invoice')) if (invoice.status === 'open') this.billing.collect(invoice);
  }

  /** The charge that paid for an invoice, or for a page of a single payment. */
  chargeOf({ invoice, session }: { invoice?: unknown; session?: string }): Thing {
    const payment =
      session === undefined
        ? (this.state.all('invoice_payment').find((each) => each.invoice === invoice)?.payment as {
            payment_intent: string;
          })
        : { payment_intent: String(this.state.get(session, 'checkout.session').payment_intent) };
    const found = this.state.all('charge').find((each) => each.payment_intent === payment?.payment_intent);
    if (!found) throw new Error('Nothing was charged');
    return found;
  }

  /** The agency gives back a part of a charge, or what is left of it. */
  refund(charge: Thing, amount = Number(charge.amount) - Number(charge.amount_refunded)): void {
    charge.amount_refunded = Number(charge.amount_refunded) + amount;
    charge.refunded = charge.amount_refunded === charge.amount;
    this.state.add('re', 'refund', { charge: charge.id, amount });
    this.state.emit('charge.refunded', charge);
  }

  /** The buyer's bank takes the money back for now. */
  dispute(charge: Thing, status = 'needs_response'): Thing {
    charge.disputed = true;
    const dispute = this.state.add('dp', 'dispute', { charge: charge.id, amount: charge.amount, status });
    this.state.emit('charge.dispute.created', dispute);
    return dispute;
  }

  closeDispute(dispute: Thing, status: 'won' | 'lost'): void {
    dispute.status = status;
    this.state.emit('charge.dispute.closed', dispute);
  }

  /** The agency or the buyer changes the subscription on Stripe's own pages. */
  subscription(id: unknown): Thing {
    return this.state.get(String(id), 'subscription');
  }
  cancel(id: unknown): void {
    this.billing.end(this.subscription(id));
  }
  pause(id: unknown): void {
    const subscription = this.subscription(id);
    Object.assign(subscription, { pause_collection: { behavior: 'void' }, status: 'paused' });
    this.state.emit('customer.subscription.paused', subscription);
  }
  resume(id: unknown): void {
    const subscription = this.subscription(id);
    Object.assign(subscription, { pause_collection: null, status: 'active' });
    this.state.emit('customer.subscription.resumed', subscription);
  }

  /** Objects that somebody could still buy or use, by kind: nothing of a plan that was undone. */
  get alive(): Record<'product' | 'price' | 'payment_link' | 'coupon' | 'promotion_code', string[]> {
    const of = (kind: string) =>
      this.state
        .all(kind)
        .filter(({ active }) => active !== false)
        .map(({ id }) => id);
    return {
      product: of('product'),
      price: of('price'),
      payment_link: of('payment_link'),
      coupon: of('coupon'),
      promotion_code: of('promotion_code'),
    };
  }

  get now(): number {
    return this.#now();
  }
}

/** A stand-in for Stripe's API that keeps state, on a socket of its own. */
export interface StripeStandIn {
  baseUrl: string;
  /** For the service, so that it calls the stand-in. */
  settings: PaymentSettings;
  webhookSecret: string;
  requests: StripeRequest[];
  fail: Awaited<ReturnType<typeof serveStripe>>['fail'];
  /** A connected account; it is made when it is first named. Null: the installation's own. */
  account(id: string | null): StripeAccountStandIn;
  /** Every event so far, oldest first. Each object is as it was then. */
  events: StripeEvent[];
  close(): Promise<void>;
}

/** Starts it. Time is that of `clock`; nothing happens by itself (`passTime`). */
export async function startStripe(
  options: { clock?: { now(): Date }; callMs?: number; maxRetries?: number } = {},
): Promise<StripeStandIn> {
  const { clock = { now: () => new Date() }, callMs, maxRetries } = options;
  const key = 'sk_test_standin';
  const webhookSecret = 'whsec_standin';
  const accounts = new Map<string | null, StripeAccountStandIn>();
  const events: StripeEvent[] = [];
  let made = 0;
  const now = () => Math.floor(clock.now().getTime() / 1000);
  const nextId = (prefix: string) => {
    made += 1;
    return `${prefix}_${String(made).padStart(8, '0')}`;
  };

  function account(id: string | null): StripeAccountStandIn {
    const known = accounts.get(id);
    if (known) return known;
    const state = new StripeState({
      now,
      nextId,
      emit(type, object, previous) {
        events.push({
          id: nextId('evt'),
          object: 'event',
          type,
          created: now(),
          livemode: false,
          api_version: NEW_VERSION,
          ...(id === null ? {} : { account: id }),
          data: { object: structuredClone(object), ...(previous ? { previous_attributes: previous } : {}) },
        });
      },
    });
    const standIn = new StripeAccountStandIn(id, state);
    accounts.set(id, standIn);
    return standIn;
  }

  function answer(request: StripeRequest): unknown {
    const { state, billing } = account(request.account);
    const [, kind, id] = request.path.split('/');
    if (kind === 'accounts' || kind === 'account') {
      if (request.method === 'POST')
        state.emit('account.updated', { id: id ?? '', object: 'account', form: request.form });
      return { id: id ?? request.account ?? 'acct_own', object: 'account', charges_enabled: true };
    }
    const found = catalogue(state, request) ?? sales(state, billing, request);
    if (found === undefined)
      throw new StripeRefusal(404, { message: `Unrecognized request URL (${request.method}: ${request.path}).` });
    return found;
  }

  const wire = await serveStripe({ key, hasAccount: (id) => accounts.has(id), answer });
  return {
    baseUrl: wire.baseUrl,
    settings: {
      secretKey: key,
      apiBase: wire.baseUrl,
      webhookSecrets: [webhookSecret],
      ...(callMs === undefined ? {} : { callMs }),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    },
    webhookSecret,
    requests: wire.requests,
    fail: wire.fail,
    account,
    events,
    close: wire.close,
  };
}
