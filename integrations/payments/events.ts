/** A request of the payment provider, as it came. */
export interface PaymentWebhook {
  /** The bytes, for the signature. */
  body: Buffer;
  /** Of its header; empty without one. */
  signature: string;
  now: Date;
}

/** What a request of the provider is. */
export type WebhookReading =
  | { kind: 'refused'; reason: 'signature' | 'shape' | 'mode' }
  | {
      kind: 'event';
      id: string;
      type: string;
      createdAt: Date;
      /** The connected account that it is of; null = the installation's own. */
      account: string | null;
      payload: Record<string, unknown>;
    };

/**
 * What an event tells of. Only names are taken from it: what became of them is asked of the provider, since events come late, twice and in any
 * order.
 */
export type PaymentNews =
  | { kind: 'checkout'; sessionId: string }
  | { kind: 'invoice'; invoiceId: string; subscriptionId: string | null }
  | { kind: 'subscription'; subscriptionId: string }
  | { kind: 'charge'; chargeId: string };

/** An object of the provider, of any version. */
type Loose = { [name: string]: Loose | string | number | boolean | null | undefined };

const CHECKOUT_EVENTS = new Set(
  ['completed', 'expired', 'async_payment_succeeded', 'async_payment_failed'].map((each) => `checkout.session.${each}`),
);
const INVOICE_EVENTS = new Set(['invoice.paid', 'invoice.payment_failed']);
const SUBSCRIPTION_EVENTS = new Set(
  ['created', 'updated', 'deleted', 'paused', 'resumed'].map((each) => `customer.subscription.${each}`),
);
const CHARGE_EVENTS = new Set(['charge.refunded', 'charge.dispute.created', 'charge.dispute.closed']);

/** Every type of event that is used; the webhook endpoint needs no others. */
export const PAYMENT_EVENT_TYPES: readonly string[] = [
  ...CHECKOUT_EVENTS,
  ...INVOICE_EVENTS,
  ...SUBSCRIPTION_EVENTS,
  ...CHARGE_EVENTS,
];

/** What an event of any version of the API tells of; undefined for one that is of no use here. */
export function newsOf(type: string, payload: unknown): PaymentNews | undefined {
  const object = at(at(payload as Loose, 'data'), 'object');
  const id = nameOf(object?.id);
  if (object === undefined || id === null) return undefined;
  if (CHECKOUT_EVENTS.has(type)) return { kind: 'checkout', sessionId: id };
  if (SUBSCRIPTION_EVENTS.has(type)) return { kind: 'subscription', subscriptionId: id };
  if (INVOICE_EVENTS.has(type)) {
    // Until 2025-03-31 an invoice named its subscription itself.
    const parent = at(at(object, 'parent'), 'subscription_details');
    return {
      kind: 'invoice',
      invoiceId: id,
      subscriptionId: nameOf(parent?.subscription) ?? nameOf(object.subscription),
    };
  }
  if (!CHARGE_EVENTS.has(type)) return undefined;
  const chargeId = type.startsWith('charge.dispute.') ? nameOf(object.charge) : id;
  return chargeId === null ? undefined : { kind: 'charge', chargeId };
}

function at(object: Loose | undefined, name: string): Loose | undefined {
  const value = object?.[name];
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** The id of something that stands there by its id or whole. */
function nameOf(value: Loose[string]): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null && typeof value.id === 'string' ? value.id : null;
}
