import type { Kysely, Selectable, Transaction } from 'kysely';
import { sql } from 'kysely';
import type { ClientTokens, ClientUsers, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import type { ClientStatus } from './clients.ts';

/** What a secret of a client's user is for. */
export type ClientTokenKind = 'invitation' | 'sign_in' | 'session';

/** A user of a client, with what pages say of the client. Neither is deleted. */
export interface TokenUser
  extends Pick<
    Selectable<ClientUsers>,
    'id' | 'client_id' | 'email' | 'name' | 'role' | 'onboarded_at' | 'last_seen_at'
  > {
  client_name: string;
  client_status: ClientStatus;
}

/** A user, and the token that names the user. */
export interface TokenHolder extends TokenUser {
  token_created_at: Date;
}

type TokenKey = Pick<Selectable<ClientTokens>, 'workspace_id' | 'token_hash'> & { kind: ClientTokenKind };

/** Stores a secret by its hash. */
export async function insertClientToken(
  db: Kysely<DB>,
  token: TokenKey & { user_id: string; created_at: Date; expires_at: Date },
): Promise<void> {
  await db.insertInto('client_tokens').values(token).execute();
}

/** Whose token it is at `now`; undefined for one that is unknown or has expired, and when its user or client is deleted. */
export async function findTokenHolder(
  db: Kysely<DB>,
  { workspace_id: workspaceId, token_hash: hash, kind }: TokenKey,
  now: Date,
): Promise<TokenHolder | undefined> {
  const row = await db
    .selectFrom('client_tokens as t')
    .innerJoin('client_users as u', (join) =>
      join.onRef('u.workspace_id', '=', 't.workspace_id').onRef('u.id', '=', 't.user_id'),
    )
    .innerJoin('clients as c', (join) =>
      join.onRef('c.workspace_id', '=', 'u.workspace_id').onRef('c.id', '=', 'u.client_id'),
    )
    .select(['u.id', 'u.client_id', 'u.email', 'u.name', 'u.role', 'u.onboarded_at', 'u.last_seen_at'])
    .select(['c.name as client_name', 'c.status as client_status', 't.created_at as token_created_at'])
    .where('t.workspace_id', '=', workspaceId)
    .where('t.token_hash', '=', hash)
    .where('t.kind', '=', kind)
    .where('t.expires_at', '>', now)
    .where(notDeletedByKey('u.deleted_at'))
    .where(notDeletedByKey('c.deleted_at'))
    .executeTakeFirst();
  return row;
}

/** Removes a token that has not expired at `now`. Whether it was there: of several callers one takes it. */
export async function removeClientToken(
  transaction: Transaction<DB>,
  { workspace_id: workspaceId, token_hash: hash, kind }: TokenKey,
  now: Date,
): Promise<boolean> {
  const removed = await transaction
    .deleteFrom('client_tokens')
    .where('workspace_id', '=', workspaceId)
    .where('token_hash', '=', hash)
    .where('kind', '=', kind)
    .where('expires_at', '>', now)
    .returning('user_id')
    .executeTakeFirst();
  return removed !== undefined;
}

/** Removes the tokens of a user: those of this kind, or all. They stop working at once. */
export async function removeTokensOfUser(
  db: Kysely<DB>,
  workspaceId: string,
  userId: string,
  kind?: ClientTokenKind,
): Promise<void> {
  const all = db.deleteFrom('client_tokens').where('workspace_id', '=', workspaceId).where('user_id', '=', userId);
  await (kind === undefined ? all : all.where('kind', '=', kind)).execute();
}

/** Lets a token end at `until`. False when it is not there, or ends by then anyway. */
export async function updateTokenEnd(
  db: Kysely<DB>,
  { workspace_id: workspaceId, token_hash: hash, kind }: TokenKey,
  until: Date,
): Promise<boolean> {
  const changed = await db
    .updateTable('client_tokens')
    .set({ expires_at: until })
    .where('workspace_id', '=', workspaceId)
    .where('token_hash', '=', hash)
    .where('kind', '=', kind)
    .where('expires_at', '>', until)
    .returning('user_id')
    .executeTakeFirst();
  return changed !== undefined;
}

/** The users with this email, whatever its case, in clients that are not deleted; each with the number of its tokens of a kind at `now`. */
export async function findUsersByEmail(
  db: Kysely<DB>,
  workspaceId: string,
  email: string,
  { kind, now, limit }: { kind: ClientTokenKind; now: Date; limit: number },
): Promise<(Pick<TokenUser, 'id' | 'email' | 'name'> & { tokens: number })[]> {
  const { rows } = await sql<Pick<TokenUser, 'id' | 'email' | 'name'> & { tokens: number }>`
    select u.id, u.email, u.name, (
      select count(*) from client_tokens t
      where t.workspace_id = ${workspaceId} and t.user_id = u.id and t.kind = ${kind} and t.expires_at > ${now}
    ) as tokens
    from client_users u
    join clients c on c.workspace_id = u.workspace_id and c.id = u.client_id
    where u.workspace_id = ${workspaceId} and lower(u.email) = lower(${email}) and u.deleted_at is null
      and ${notDeletedByKey('c.deleted_at')}
    order by u.created_at, u.id limit ${limit}`.execute(db);
  return rows;
}

/** Notes that a user has proved to read the mailbox: onboarded, and the invitation accepted. */
export async function updateUserOnboarded(
  transaction: Transaction<DB>,
  workspaceId: string,
  userId: string,
  now: Date,
): Promise<void> {
  await transaction
    .updateTable('client_users')
    .set({ onboarded_at: now, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', userId)
    .where('onboarded_at', 'is', null)
    .execute();
  await transaction
    .updateTable('client_invitations')
    .set({ accepted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .where('accepted_at', 'is', null)
    .execute();
}

/** Notes when a user was seen, unless that was noted after `before`. */
export async function updateUserSeen(
  db: Kysely<DB>,
  workspaceId: string,
  userId: string,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  await db
    .updateTable('client_users')
    .set({ last_seen_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', userId)
    .where((where) => where.or([where('last_seen_at', 'is', null), where('last_seen_at', '<', before)]))
    .execute();
}

/** Removes the tokens of all workspaces that had expired by `before`. */
export async function removeExpiredClientTokens(system: Kysely<DB>, before: Date): Promise<void> {
  await system.deleteFrom('client_tokens').where('expires_at', '<=', before).execute();
}
