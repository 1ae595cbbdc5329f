import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { type ClientRow, lockClient } from '../../db/queries/clients/clients.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { WorkspaceContext } from '../context.ts';
import { advanceClient } from './renewals.ts';
import { resumeSubscription, suspendSubscription } from './subscription.ts';

/** Why an agency suspends a client. */
export interface SuspensionReason {
  code: ClientRow['suspension_code'];
  /** In its own words. */
  reason: string | null;
}

/** Suspends an active client. Throws CLIENT_NOT_FOUND and CLIENT_NOT_ACTIVE. */
export function stopClient(context: WorkspaceContext, clientId: string, why: SuspensionReason): Promise<ClientRow> {
  const { db, workspaceId, clock } = context;
  return inTransaction(db, async (trx) => {
    const client = await requireStatus(trx, workspaceId, clientId, 'active');
    const change = { client, key: `suspend:${newId()}`, now: clock.now() };
    return suspendSubscription(trx, { ...change, ...why });
  });
}

/** Opens a suspended client again. Throws CLIENT_NOT_FOUND and CLIENT_NOT_SUSPENDED. */
export function reopenClient(context: WorkspaceContext, clientId: string): Promise<ClientRow> {
  const { db, workspaceId, clock } = context;
  const now = clock.now();
  return inTransaction(db, async (trx) => {
    const client = await requireStatus(trx, workspaceId, clientId, 'suspended');
    await resumeSubscription(trx, { client, key: `resume:${newId()}`, now });
    // Credits that came due meanwhile.
    return advanceClient(trx, client, now);
  });
}

/** The client, locked, if it has this status. */
async function requireStatus(
  trx: Transaction<DB>,
  workspaceId: string,
  clientId: string,
  status: 'active' | 'suspended',
): Promise<ClientRow> {
  const client = await lockClient(trx, workspaceId, clientId);
  if (!client) throw fault('CLIENT_NOT_FOUND');
  if (client.status !== status) throw fault(status === 'active' ? 'CLIENT_NOT_ACTIVE' : 'CLIENT_NOT_SUSPENDED');
  return client;
}
