import { createHmac } from 'node:crypto';
import type { Thing } from './wire.ts';

/** An event as Stripe sends it. */
export interface StripeEvent {
  id: string;
  object: 'event';
  type: string;
  created: number;
  livemode: boolean;
  api_version: string;
  account?: string;
  data: { object: Thing; previous_attributes?: Record<string, unknown> };
}

/** Of before 2025-03-31, when periods moved to the items of a subscription, and invoices away from charges. */
export const OLD_VERSION = '2024-06-20';
export const NEW_VERSION = '2026-10-28.endive';

/** The event as an endpoint with the version of 2024 gets it. `invoiceOf`: the invoice that a payment intent paid for. */
export function inOldShape(event: StripeEvent, invoiceOf: (payment: unknown) => string | null): StripeEvent {
  const object: Thing = structuredClone(event.data.object);
  if (object.object === 'subscription') {
    const item = (object.items as { data: Thing[] }).data[0];
    object.current_period_start = item?.current_period_start;
    object.current_period_end = item?.current_period_end;
    delete item?.current_period_start;
    delete item?.current_period_end;
  }
  if (object.object === 'invoice') {
    const parent = object.parent as { subscription_details: { subscription: string } };
    object.subscription = parent.subscription_details.subscription;
    delete object.parent;
    for (const line of (object.lines as { data: Thing[] }).data) {
      const details = line.parent as { subscription_item_details: { proration: boolean } };
      Object.assign(line, {
        type: 'subscription',
        subscription: object.subscription,
        proration: details.subscription_item_details.proration,
      });
      delete line.parent;
    }
  }
  if (object.object === 'charge') object.invoice = invoiceOf(object.payment_intent);
  return { ...event, api_version: OLD_VERSION, data: { ...event.data, object } };
}

/** The body and the headers of a webhook. `at`: seconds since 1970 of its signature. */
export function signedWebhook(
  event: unknown,
  secret: string,
  at: number,
): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify(event, null, 2);
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'stripe-signature': `t=${at},v1=${signature}` } };
}
