import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type ClientRow, findClient, lockClient } from '../../db/queries/clients/clients.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PaymentProvider } from '../../integrations/payments/provider.ts';
import type { WorkspaceContext } from '../context.ts';
import { withIntent } from '../payments/withIntent.ts';
import { advanceClient } from './renewals.ts';
import { resumeSubscription, suspendSubscription } from './subscription.ts';

/** Why an agency suspends a client. */
export interface SuspensionReason {
  code: ClientRow['suspension_code'];
  /** In its own words. */
  reason: string | null;
}

/**
 * Suspends an active client, and cancels its subscription at the payment provider for the end of the period. Throws CLIENT_NOT_FOUND, CLIENT_NOT_ACTIVE,
 * and PAYMENT_PROVIDER_ERROR: then nothing has changed.
 */
export function stopClient(context: WorkspaceContext, clientId: string, why: SuspensionReason): Promise<ClientRow> {
  const { db, workspaceId, clock } = context;
  return withSubscription(context, clientId, 'active', {
    make: (provider, key, subscriptionId) => provider.cancelAtPeriodEnd(key, subscriptionId),
    store: () =>
      inTransaction(db, async (trx) => {
        const client = requireStatus(await lockClient(trx, workspaceId, clientId), 'active');
        return suspendSubscription(trx, { client, key: `suspend:${newId()}`, now: clock.now(), ...why });
      }),
  });
}

/**
 * Opens a suspended client again, and takes the cancellation at the payment provider back. Throws CLIENT_NOT_FOUND, CLIENT_NOT_SUSPENDED, and
 * PAYMENT_PROVIDER_ERROR: then nothing has changed.
 */
export function reopenClient(context: WorkspaceContext, clientId: string): Promise<ClientRow> {
  const { db, workspaceId, clock } = context;
  const now = clock.now();
  return withSubscription(context, clientId, 'suspended', {
    make: (provider, key, subscriptionId) => provider.resume(key, subscriptionId),
    store: () =>
      inTransaction(db, async (trx) => {
        const client = requireStatus(await lockClient(trx, workspaceId, clientId), 'suspended');
        await resumeSubscription(trx, { client, key: `resume:${newId()}`, now });
        // Credits that came due meanwhile.
        return advanceClient(trx, client, now);
      }),
  });
}

/** Changes the client's subscription at the payment provider, if it has one, and then the client. */
async function withSubscription(
  context: WorkspaceContext,
  clientId: string,
  status: 'active' | 'suspended',
  work: {
    make(provider: PaymentProvider, key: string, subscriptionId: string): Promise<void>;
    store(): Promise<ClientRow>;
  },
): Promise<ClientRow> {
  const { db, workspaceId } = context;
  // What is refused anyway does not reach the provider.
  const client = requireStatus(await findClient(db, workspaceId, clientId), status);
  const id = client.provider_subscription_id;
  if (id === null) return work.store();
  return withIntent(
    context,
    { kind: 'subscription', subjectId: clientId },
    {
      make: (provider, key) => work.make(provider, key, id),
      store: work.store,
    },
  );
}

function requireStatus(client: ClientRow | undefined, status: 'active' | 'suspended'): ClientRow {
  if (!client) throw fault('CLIENT_NOT_FOUND');
  if (client.status !== status) throw fault(status === 'active' ? 'CLIENT_NOT_ACTIVE' : 'CLIENT_NOT_SUSPENDED');
  return client;
}
