import { fault } from '../../../core/errors.ts';
import { addressHash } from '../../../core/publicAddress.ts';
import { insertPaymentEvent } from '../../../db/queries/payments/events.ts';
import { findPublicAddresses } from '../../../db/queries/workspaces/publicAddresses.ts';
import { paymentAddress } from '../../../domain/payments/address.ts';
import { readPaymentWebhook } from '../../../integrations/payments/stripe/webhooks.ts';
import type { SharedHook } from './hook.ts';

/** Stripe's own events are smaller than 256 KB. */
const MAX_BYTES = 1_048_576;

const REFUSALS = {
  signature: 'The signature does not fit the body, or is older than five minutes.',
  shape: 'The body is no event.',
  mode: 'The event is of the other mode, test or live.',
};

/**
 * `POST /hooks/payments`: the webhook `payment` of the document. Answers 200 when the event is stored. An account that belongs to no hub is 200 as well: Stripe
 * sends what is refused for days, and switches off an endpoint that refuses everything, for every hub.
 */
export const paymentsHook: SharedHook = {
  name: 'sendPaymentEvent',
  method: 'POST',
  path: '/payments',
  kind: undefined,
  maxBytes: MAX_BYTES,
  async handle({ headers, body, runtime, clock, jobs, forWorkspace, system, logger }) {
    const { payments } = runtime;
    if (payments.webhookSecrets.length === 0) throw fault('NOT_FOUND');
    const now = clock.now();
    const signature = headers['stripe-signature'];
    const webhook = { body, signature: typeof signature === 'string' ? signature : '', now };
    const event = await readPaymentWebhook(payments, webhook);
    if (event.kind === 'refused') throw fault('VALIDATION_ERROR', REFUSALS[event.reason]);
    const [owner] = await findPublicAddresses(system, [addressHash(paymentAddress(event.account))], now);
    if (owner?.kind !== 'payments') {
      logger.info({ eventType: event.type }, 'an event of an account without a hub was ignored');
      return { status: 200, body: { received: false } };
    }
    const { workspace_id: workspaceId } = owner;
    const { id, type, createdAt: created_at, payload } = event;
    await insertPaymentEvent(forWorkspace(workspaceId), {
      workspace_id: workspaceId,
      id,
      type,
      created_at,
      received_at: now,
      payload,
    });
    void jobs.send('apply-payments', { workspaceId });
    return { status: 200, body: { received: true } };
  },
};
