import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { ClientInvitations, ClientUsers, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import type { ClientKey } from './clients.ts';

/** A user of a client. */
export type ClientUserRow = Selectable<ClientUsers>;

/** A user of a client with the invitation that this user has not accepted yet; its columns are null without one. */
export type InvitedUserRow = ClientUserRow & {
  invitation_id: string | null;
  invited_at: Date | null;
  invitation_expires_at: Date | null;
};

/** Stores new users of a client. Fails on `client_users_email_key` when two have one email, whatever its case. */
export async function insertClientUsers(
  trx: Transaction<DB>,
  users: readonly Insertable<ClientUsers>[],
): Promise<ClientUserRow[]> {
  return await trx.insertInto('client_users').values(users).returningAll().execute();
}

/** The users of a client that are not removed, in the order in which they were made, with their pending invitations. */
export async function selectClientUsers(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: ClientKey,
): Promise<InvitedUserRow[]> {
  return await db
    .selectFrom('client_users as u')
    .leftJoin('client_invitations as i', (join) =>
      join.on('i.workspace_id', '=', workspaceId).onRef('i.user_id', '=', 'u.id').on('i.accepted_at', 'is', null),
    )
    .where('u.workspace_id', '=', workspaceId)
    .where('u.client_id', '=', id)
    .where('u.deleted_at', 'is', null)
    .selectAll('u')
    .select(['i.id as invitation_id', 'i.created_at as invited_at', 'i.expires_at as invitation_expires_at'])
    .orderBy('u.id')
    .execute();
}

/** A user of the client, unless removed. */
export function findClientUser(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id: clientId }: ClientKey,
  id: string,
): Promise<ClientUserRow | undefined> {
  return db
    .selectFrom('client_users')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('client_id', '=', clientId)
    .where(notDeletedByKey())
    .executeTakeFirst();
}

/** Whether another user of the client than this one is an admin. The client must be locked. */
export async function hasOtherAdmin(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id: clientId }: ClientKey,
  userId: string,
): Promise<boolean> {
  const row = await trx
    .selectFrom('client_users')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', clientId)
    .where('id', '<>', userId)
    .where('role', '=', 'admin')
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** How many users the client has. */
export async function countClientUsers(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id: clientId }: ClientKey,
): Promise<number> {
  const { users } = await db
    .selectFrom('client_users')
    .select(sql<number>`count(*)`.as('users'))
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', clientId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return users;
}

/** Changes columns of a user. */
export async function updateClientUserRow(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id }: Pick<ClientUserRow, 'workspace_id' | 'id'>,
  change: Updateable<ClientUsers>,
): Promise<void> {
  await trx
    .updateTable('client_users')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Removes the invitation of a user. */
export async function removeInvitation(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id: userId }: Pick<ClientUserRow, 'workspace_id' | 'id'>,
): Promise<void> {
  await trx
    .deleteFrom('client_invitations')
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .execute();
}

/** An invitation with its user. */
export type InvitationRow = Selectable<ClientInvitations> & Pick<ClientUserRow, 'email' | 'name' | 'role'>;

/** Stores an invitation. A user has one at most. */
export async function insertInvitation(trx: Transaction<DB>, invitation: Insertable<ClientInvitations>): Promise<void> {
  await trx.insertInto('client_invitations').values(invitation).execute();
}

/** An invitation of the client that is not accepted yet, locked until the transaction ends. */
export function lockInvitation(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id: clientId }: ClientKey,
  id: string,
): Promise<InvitationRow | undefined> {
  return trx
    .selectFrom('client_invitations as i')
    .innerJoin('client_users as u', (join) =>
      join.on('u.workspace_id', '=', workspaceId).onRef('u.id', '=', 'i.user_id'),
    )
    .selectAll('i')
    .select(['u.email', 'u.name', 'u.role'])
    .where('i.workspace_id', '=', workspaceId)
    .where('i.id', '=', id)
    .where('i.client_id', '=', clientId)
    .where('i.accepted_at', 'is', null)
    .where(notDeletedByKey('u.deleted_at'))
    .forUpdate(['i', 'u'])
    .executeTakeFirst();
}

/** Renews an invitation until `expiresAt`. */
export async function updateInvitationRow(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id }: Pick<InvitationRow, 'workspace_id' | 'id'>,
  expiresAt: Date,
): Promise<void> {
  await trx
    .updateTable('client_invitations')
    .set({ expires_at: expiresAt })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/**
 * The client of a user; undefined for an unknown one. Also of a user who was removed: what the user sent before is still the client's.
 */
export async function findClientOfUser(
  db: Kysely<DB>,
  workspaceId: string,
  userId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('client_users')
    .select('client_id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', userId)
    .executeTakeFirst();
  return row?.client_id;
}
