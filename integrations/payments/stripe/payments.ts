import type { Stripe } from 'stripe';
import type { InvoiceState, PaymentProvider, PaymentState } from '../provider.ts';
import { CHECKOUT } from './checkout.ts';
import type { StripeCall } from './client.ts';
import { stripeIdOf, unlessMissing } from './missing.ts';

/** What hides in an invoice of before 2025-03-31, and in a line of it. */
interface OldInvoice {
  subscription?: string | { id: string } | null;
}
interface OldLine {
  type?: string;
  proration?: boolean;
}
/** A charge of before 2025-03-31 names its invoice. */
interface OldCharge {
  invoice?: string | { id: string } | null;
}

/** Stripe's disputes that hold no money back: https://docs.stripe.com/api/disputes/object#dispute_object-status */
const HARMLESS = new Set(['won', 'prevented', 'warning_needs_response', 'warning_under_review', 'warning_closed']);

/** Invoices and payments. */
export function stripePayments(call: StripeCall): Pick<PaymentProvider, 'findInvoice' | 'findPayment'> {
  const invoiceOf = (id: string) =>
    unlessMissing(call({}, (stripe, options) => stripe.invoices.retrieve(id, {}, options)));

  async function paidFor(charge: Stripe.Charge): Promise<PaymentState['paidFor']> {
    const paymentId = stripeIdOf(charge.payment_intent);
    let invoiceId = stripeIdOf((charge as OldCharge).invoice);
    if (invoiceId === null && paymentId !== null) {
      const payments = await call({}, (stripe, options) =>
        stripe.invoicePayments.list(
          { payment: { type: 'payment_intent', payment_intent: paymentId }, limit: 1 },
          options,
        ),
      );
      invoiceId = stripeIdOf(payments.data[0]?.invoice);
    }
    if (invoiceId !== null) {
      const invoice = await invoiceOf(invoiceId);
      return { invoiceId, subscriptionId: invoice ? subscriptionIdOf(invoice) : null };
    }
    const named = charge.metadata[CHECKOUT];
    if (named !== undefined) return { checkoutId: named };
    if (paymentId === null) return null;
    const payment = await call({}, (stripe, options) => stripe.paymentIntents.retrieve(paymentId, {}, options));
    const checkoutId = payment.metadata[CHECKOUT];
    return checkoutId === undefined ? null : { checkoutId };
  }

  return {
    async findInvoice(id) {
      const invoice = await invoiceOf(id);
      return invoice && stateOfInvoice(invoice);
    },
    async findPayment(chargeId) {
      const charge = await unlessMissing(call({}, (stripe, options) => stripe.charges.retrieve(chargeId, {}, options)));
      if (!charge) return undefined;
      const disputes = charge.disputed
        ? (await call({}, (stripe, options) => stripe.disputes.list({ charge: charge.id, limit: 100 }, options))).data
        : [];
      return {
        chargeId: charge.id,
        amount: charge.amount,
        refunded: charge.amount_refunded,
        disputed: disputes.filter(({ status }) => !HARMLESS.has(status)).reduce((sum, { amount }) => sum + amount, 0),
        paidFor: await paidFor(charge),
      };
    },
  };
}

function subscriptionIdOf(invoice: Stripe.Invoice): string | null {
  return (
    stripeIdOf(invoice.parent?.subscription_details?.subscription) ?? stripeIdOf((invoice as OldInvoice).subscription)
  );
}

function stateOfInvoice(invoice: Stripe.Invoice): InvoiceState {
  const lines = invoice.lines.data.filter(isOfPeriod);
  const end = Math.max(0, ...lines.map(({ period }) => period.end));
  const start = lines.find(({ period }) => period.end === end)?.period.start ?? 0;
  return {
    id: invoice.id ?? '',
    subscriptionId: subscriptionIdOf(invoice),
    isPaid: invoice.status === 'paid',
    beginsPeriod: ['subscription_create', 'subscription_cycle', 'subscription'].includes(invoice.billing_reason ?? ''),
    period: end > start ? { start: new Date(start * 1000), end: new Date(end * 1000) } : null,
  };
}

/** Whether the line is the price of a period, not a difference within one or something else that was added. */
function isOfPeriod(line: Stripe.InvoiceLineItem): boolean {
  const details = line.parent?.subscription_item_details;
  if (details) return !details.proration;
  const { type, proration }: OldLine = line as OldLine;
  return type === 'subscription' && proration !== true;
}
