import { toStorable } from '../../../core/text.ts';
import type { PaymentWebhook, WebhookReading } from '../events.ts';
import { isLive, type PaymentSettings } from '../settings.ts';
import { loadStripe } from './client.ts';

/** An event that is older was recorded by somebody, or comes from a machine whose clock is wrong. */
const MAX_AGE_SECONDS = 300;

/** The bounds of an event in the document (`PaymentEvent`). The last second of the year 9999: a larger number may be no date at all. */
const MAX_CREATED = 253_402_300_799;
const MAX_NAME = 255;

/** What every event has: https://docs.stripe.com/api/events/object */
interface RawEvent {
  id?: unknown;
  object?: unknown;
  type?: unknown;
  created?: unknown;
  livemode?: unknown;
  account?: unknown;
}

/**
 * Believes a request when its raw body is signed with one of the secrets at most five minutes ago, and when it is of the same mode (test or live) as the key.
 */
export async function readPaymentWebhook(settings: PaymentSettings, webhook: PaymentWebhook): Promise<WebhookReading> {
  const { body, signature, now } = webhook;
  const { webhooks } = await loadStripe();
  const isSigned = settings.webhookSecrets.some((secret) => {
    try {
      return (
        webhooks.signature?.verifyHeader(body, signature, secret, MAX_AGE_SECONDS, undefined, now.getTime()) === true
      );
    } catch {
      return false;
    }
  });
  if (!isSigned) return { kind: 'refused', reason: 'signature' };
  let event: RawEvent;
  try {
    // Storable: the database takes neither NUL nor half a surrogate.
    event = JSON.parse(body.toString('utf8'), (_key, value: unknown) =>
      typeof value === 'string' ? toStorable(value) : value,
    );
  } catch {
    return { kind: 'refused', reason: 'shape' };
  }
  const { id, type, created, livemode, account } = event ?? {};
  const isEvent = isName(id) && id.length > 0 && isName(type) && (isName(account) || (account ?? null) === null);
  if (!isEvent || typeof created !== 'number' || !Number.isSafeInteger(created) || created < 0 || created > MAX_CREATED)
    return { kind: 'refused', reason: 'shape' };
  if (livemode !== isLive(settings)) return { kind: 'refused', reason: 'mode' };
  return {
    kind: 'event',
    id,
    type,
    createdAt: new Date(created * 1000),
    account: isName(account) ? account : null,
    payload: event as Record<string, unknown>,
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME;
}
