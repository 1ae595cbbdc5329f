import { addressHash } from '../../../core/publicAddress.ts';
import { insertPublicAddress } from '../../../db/queries/workspaces/publicAddresses.ts';
import type { WorkspaceContext } from '../../../domain/context.ts';
import { paymentAddress } from '../../../domain/payments/address.ts';
import { applyEvents } from '../../../domain/payments/applyEvents.ts';
import type { TestApp } from '../http/app.ts';
import { type StripeEvent, signedWebhook } from '../stripe/events.ts';
import type { StripeStandIn } from '../stripe/stripe.ts';
import { storeSubdomain } from './storedPlans.ts';

/** The workspace of a test application, as rules see it. */
export function paymentsContextOf(app: TestApp): WorkspaceContext {
  const { workspaceId } = app.workspace;
  const { database, service, clock } = app;
  return { db: database.database.forWorkspace(workspaceId), workspaceId, runtime: service.runtime, clock };
}

/** The hub of the application's workspace has a subdomain and sells through this account of the stand-in. */
export async function connectHub(app: TestApp, stripe: StripeStandIn, account: string): Promise<void> {
  const { db, workspaceId } = paymentsContextOf(app);
  stripe.account(account);
  await storeSubdomain({ db, workspaceId });
  await db
    .updateTable('hubs')
    .set({ payment_mode: 'account', payment_account: account })
    .where('workspace_id', '=', workspaceId)
    .execute();
  const address_hash = addressHash(paymentAddress(account));
  await insertPublicAddress(db, { address_hash, workspace_id: workspaceId, kind: 'payments', target_id: workspaceId });
}

/** Sends an event as Stripe does. */
export function sendEvent(app: TestApp, stripe: StripeStandIn, event: StripeEvent) {
  const at = Math.floor(app.clock.now().getTime() / 1000);
  const { body, headers } = signedWebhook(event, stripe.webhookSecret, at);
  return app.raw.post('/hooks/payments').set(headers).send(body);
}

/** Applies every event that waits and is due. */
export function applyWaiting(app: TestApp): Promise<void> {
  return applyEvents(paymentsContextOf(app), new AbortController().signal);
}
