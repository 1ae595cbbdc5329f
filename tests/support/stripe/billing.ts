import { monthsAfter, refOf, type StripeState } from './state.ts';
import { StripeRefusal, type Thing } from './wire.ts';

/** How a subscription's items and its invoices come to be. Amounts are in the smallest unit of the price's currency. */
export interface Bill {
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update';
  lines: { amount: number; start: number; end: number; proration: boolean }[];
}

/** The item of a subscription. */
export const itemOf = (subscription: Thing): Thing => (subscription.items as { data: Thing[] }).data[0] as Thing;
export const priceOf = (subscription: Thing): Thing => itemOf(subscription).price as Thing;
const monthsOf = (price: Thing): number => (price.recurring as { interval_count: number }).interval_count;

/** Subscriptions, their invoices and what pays for them, in one account. */
export class StripeBilling {
  readonly #state: StripeState;
  /** Customers whose card is refused for now. */
  readonly failing = new Set<string>();

  constructor(state: StripeState) {
    this.#state = state;
  }

  /** Begins a subscription, whose first invoice is paid. */
  subscribe(fields: {
    customer: string;
    price: Thing;
    metadata: Record<string, string>;
    coupon: string | null;
    feePercent: number | null;
  }): Thing {
    const { price, coupon } = fields;
    const now = this.#state.now();
    const subscription = this.#state.add('sub', 'subscription', {
      customer: fields.customer,
      status: 'active',
      billing_cycle_anchor: now,
      cancel_at: null,
      cancel_at_period_end: false,
      canceled_at: null,
      ended_at: null,
      pause_collection: null,
      metadata: fields.metadata,
      application_fee_percent: fields.feePercent,
      latest_invoice: null as string | null,
      coupon,
      items: { object: 'list', data: [] as Thing[], has_more: false },
    });
    const end = monthsAfter(now, now, monthsOf(price));
    const item = this.#state.add('si', 'subscription_item', {
      price,
      quantity: 1,
      current_period_start: now,
      current_period_end: end,
      subscription: subscription.id,
    });
    (subscription.items as { data: Thing[] }).data.push(item);
    this.#state.emit('customer.subscription.created', subscription);
    this.bill(subscription, {
      reason: 'subscription_create',
      lines: [{ amount: Number(price.unit_amount), start: now, end, proration: false }],
    });
    return subscription;
  }

  /** Makes an invoice and tries to collect it. */
  bill(subscription: Thing, { reason, lines }: Bill): Thing {
    const discount = this.#discount(subscription, lines);
    const total = Math.max(0, lines.reduce((sum, { amount }) => sum + amount, 0) - discount);
    const invoice = this.#state.add('in', 'invoice', {
      customer: subscription.customer,
      status: 'open',
      billing_reason: reason,
      currency: priceOf(subscription).currency,
      total,
      amount_due: total,
      amount_paid: 0,
      parent: {
        type: 'subscription_details',
        subscription_details: { subscription: subscription.id, metadata: subscription.metadata },
      },
      lines: {
        object: 'list',
        has_more: false,
        data: lines.map(({ amount, start, end, proration }, index) => ({
          id: `il_${index}`,
          object: 'line_item',
          amount,
          period: { start, end },
          parent: {
            type: 'subscription_item_details',
            subscription_item_details: { subscription: subscription.id, proration },
          },
        })),
      },
    });
    subscription.latest_invoice = invoice.id;
    this.collect(invoice);
    return invoice;
  }

  /** Tries to collect an open invoice. The subscription is past due until one is paid. */
  collect(invoice: Thing): boolean {
    const details = (invoice.parent as { subscription_details: { subscription: string } }).subscription_details;
    const subscription = this.#state.get(details.subscription, 'subscription');
    if (this.failing.has(String(invoice.customer))) {
      if (subscription.status === 'active') {
        subscription.status = 'past_due';
        this.#state.emit('customer.subscription.updated', subscription, { status: 'active' });
      }
      this.#state.emit('invoice.payment_failed', invoice);
      return false;
    }
    invoice.status = 'paid';
    invoice.amount_paid = invoice.total;
    if (Number(invoice.total) > 0) {
      const { payment } = this.charge(Number(invoice.total), String(invoice.currency), {
        customer: String(invoice.customer),
        metadata: {},
      });
      this.#state.add('inpay', 'invoice_payment', {
        invoice: invoice.id,
        status: 'paid',
        payment: { type: 'payment_intent', payment_intent: payment.id },
      });
    }
    this.#state.emit('invoice.paid', invoice);
    if (subscription.status === 'past_due') {
      subscription.status = 'active';
      this.#state.emit('customer.subscription.updated', subscription, { status: 'past_due' });
    }
    return true;
  }

  /** A payment that went well. */
  charge(
    amount: number,
    currency: string,
    { customer, metadata }: { customer: string | null; metadata: Record<string, string> },
  ): { payment: Thing; charge: Thing } {
    const payment = this.#state.add('pi', 'payment_intent', {
      amount,
      currency,
      status: 'succeeded',
      customer,
      metadata,
      latest_charge: '',
    });
    const charge = this.#state.add('ch', 'charge', {
      amount,
      amount_captured: amount,
      amount_refunded: 0,
      currency,
      customer,
      disputed: false,
      refunded: false,
      metadata,
      payment_intent: payment.id,
    });
    payment.latest_charge = charge.id;
    return { payment, charge };
  }

  /** Another price: with `prorate` the difference of the rest of the period is collected now, and nothing changes if it cannot be. */
  change(subscription: Thing, price: Thing, prorate: boolean): void {
    const item = itemOf(subscription);
    const before = priceOf(subscription);
    const now = this.#state.now();
    const [start, end] = [Number(item.current_period_start), Number(item.current_period_end)];
    const isSame = monthsOf(before) === monthsOf(price);
    if (prorate && this.failing.has(String(subscription.customer)))
      throw new StripeRefusal(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' });
    item.price = price;
    const left = (end - now) / (end - start);
    const credit = { amount: -Math.round(Number(before.unit_amount) * left), start: now, end, proration: true };
    if (!isSame) {
      item.current_period_start = now;
      item.current_period_end = monthsAfter(now, now, monthsOf(price));
      subscription.billing_cycle_anchor = now;
    }
    this.#state.emit('customer.subscription.updated', subscription, { items: {} });
    if (!prorate && isSame) return;
    const newEnd = Number(item.current_period_end);
    this.bill(subscription, {
      reason: 'subscription_update',
      lines: [
        ...(prorate ? [credit] : []),
        isSame
          ? { amount: Math.round(Number(price.unit_amount) * left), start: now, end, proration: true }
          : { amount: Number(price.unit_amount), start: now, end: newEnd, proration: false },
      ],
    });
  }

  /** What is due until now: periods that end are renewed, or the subscription ends with them. */
  passTime(): void {
    for (const subscription of this.#state.all('subscription').reverse()) {
      while (this.#hasEnded(subscription)) this.#renew(subscription);
    }
    for (const session of this.#state.all('checkout.session')) {
      if (session.status === 'open' && Number(session.expires_at) <= this.#state.now()) {
        Object.assign(session, { status: 'expired', url: null });
        this.#state.emit('checkout.session.expired', session);
      }
    }
  }

  /** Ends a subscription now. */
  end(subscription: Thing): void {
    Object.assign(subscription, { status: 'canceled', canceled_at: this.#state.now(), ended_at: this.#state.now() });
    this.#state.emit('customer.subscription.deleted', subscription);
  }

  #hasEnded(subscription: Thing): boolean {
    const isOver = subscription.status === 'canceled' || subscription.pause_collection !== null;
    return !isOver && Number(itemOf(subscription).current_period_end) <= this.#state.now();
  }

  #renew(subscription: Thing): void {
    if (subscription.cancel_at_period_end === true) {
      this.end(subscription);
      return;
    }
    const item = itemOf(subscription);
    const price = priceOf(subscription);
    const start = Number(item.current_period_end);
    const end = monthsAfter(Number(subscription.billing_cycle_anchor), start, monthsOf(price));
    item.current_period_start = start;
    item.current_period_end = end;
    this.#state.emit('customer.subscription.updated', subscription, {});
    this.bill(subscription, {
      reason: 'subscription_cycle',
      lines: [{ amount: Number(price.unit_amount), start, end, proration: false }],
    });
  }

  #discount(subscription: Thing, lines: Bill['lines']): number {
    const coupon = this.#state.find(refOf(subscription, 'coupon'), 'coupon');
    if (!coupon || coupon.duration === undefined) return 0;
    const [isFirst, since] = [subscription.latest_invoice === null, Number(subscription.created)];
    const endsAt = monthsAfter(since, since, Number(coupon.duration_in_months ?? 0));
    if (coupon.duration === 'once' && !isFirst) return 0;
    if (coupon.duration === 'repeating' && this.#state.now() >= endsAt) return 0;
    const amount = lines.reduce((sum, line) => sum + Math.max(0, line.amount), 0);
    return coupon.percent_off === null
      ? Math.min(amount, Number(coupon.amount_off))
      : Math.round((amount * Number(coupon.percent_off)) / 100);
  }
}
