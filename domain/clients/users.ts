import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { type ClientKey, holdTerms, lockClient } from '../../db/queries/clients/clients.ts';
import { removeTokensOfUser } from '../../db/queries/clients/clientTokens.ts';
import {
  type ClientUserRow,
  countClientUsers,
  findClientUser,
  hasOtherAdmin,
  removeInvitation,
  updateClientUserRow,
} from '../../db/queries/clients/clientUsers.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { WorkspaceContext } from '../context.ts';

type UsersContext = Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>;

/**
 * Changes a user of a client; the name is unchanged when absent. Throws CLIENT_NOT_FOUND, USER_NOT_FOUND, and LAST_ADMIN when no admin would be left.
 * An admin counts who has not accepted the invitation yet.
 */
export function changeUser(
  context: UsersContext,
  clientId: string,
  userId: string,
  { role, name }: { role: ClientUserRow['role']; name?: string | undefined },
): Promise<void> {
  return withUser(context, clientId, userId, async (trx, user) => {
    if (role !== 'admin') await requireOtherAdmin(trx, user);
    await updateClientUserRow(trx, user, { role, name, updated_at: context.clock.now() });
  });
}

/**
 * Removes a user of a client: sessions and links to sign in end at once, and a pending invitation is gone. Throws CLIENT_NOT_FOUND, USER_NOT_FOUND, and
 * LAST_ADMIN when no admin would be left.
 */
export function dropUser(context: UsersContext, clientId: string, userId: string): Promise<void> {
  return withUser(context, clientId, userId, async (trx, user) => {
    await requireOtherAdmin(trx, user);
    const now = context.clock.now();
    await updateClientUserRow(trx, user, { deleted_at: now, updated_at: now });
    await removeTokensOfUser(trx, user.workspace_id, user.id);
    await removeInvitation(trx, user);
  });
}

/** Throws SEATS_LIMIT_REACHED when the client has more users than a plan has seats, and PLAN_NOT_FOUND. */
export async function requireSeats(trx: Transaction<DB>, client: ClientKey, planId: string): Promise<void> {
  const plan = await holdTerms(trx, client.workspace_id, planId);
  if (!plan) throw fault('PLAN_NOT_FOUND');
  if ((await countClientUsers(trx, client)) > plan.seats) throw fault('SEATS_LIMIT_REACHED');
}

/** Works on a user while the client is locked: of two removals at once, the second one sees the first. */
function withUser(
  { db, workspaceId }: UsersContext,
  clientId: string,
  userId: string,
  work: (trx: Transaction<DB>, user: ClientUserRow) => Promise<void>,
): Promise<void> {
  return inTransaction(db, async (trx) => {
    const client = await lockClient(trx, workspaceId, clientId);
    if (!client) throw fault('CLIENT_NOT_FOUND');
    const user = await findClientUser(trx, client, userId);
    if (!user) throw fault('USER_NOT_FOUND');
    await work(trx, user);
  });
}

async function requireOtherAdmin(trx: Transaction<DB>, user: ClientUserRow): Promise<void> {
  if (user.role !== 'admin') return;
  const client = { workspace_id: user.workspace_id, id: user.client_id };
  if (!(await hasOtherAdmin(trx, client, user.id))) throw fault('LAST_ADMIN');
}
