import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { ChannelIdentities, DB, EndUsers } from '../../../generated/db.ts';

/** A person on a channel. */
export type EndUserRow = Selectable<EndUsers>;

/** By what a provider names a person. */
export type IdentityKey = Pick<Selectable<ChannelIdentities>, 'kind' | 'value'>;

/** Two calls with one of these names run one after the other, until the transaction ends. The names must be sorted, so that no two calls wait for each other. */
export async function lockNames(trx: Transaction<DB>, names: readonly string[]): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${names}::text[]) as name`.execute(trx);
}

/** The identities among these that are known on the connection, with their end users. */
export function findIdentities(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
  keys: readonly IdentityKey[],
): Promise<(IdentityKey & { end_user_id: string })[]> {
  return db
    .selectFrom('channel_identities')
    .select(['kind', 'value', 'end_user_id'])
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where(
      sql<boolean>`(kind, value) in (select * from unnest(${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]))`,
    )
    .execute();
}

/** Locks end users until the transaction ends, in the order of their ids. Those that are gone are left out. */
export async function lockEndUsers(
  trx: Transaction<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<EndUserRow[]> {
  const { rows } = await sql<EndUserRow>`
    select * from end_users where workspace_id = ${workspaceId} and id = any (${ids}::uuid[])
    order by id for no key update`.execute(trx);
  return rows;
}

/** Adds an end user. */
export async function insertEndUser(trx: Transaction<DB>, user: EndUserRow): Promise<void> {
  await trx.insertInto('end_users').values(user).execute();
}

/** Changes the name by which a person goes. */
export async function updateEndUserName(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  name: string,
): Promise<void> {
  await trx
    .updateTable('end_users')
    .set({ name })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Notes that a payload named the end user so; an identity that is known belongs to it from now on. */
export async function insertIdentities(
  trx: Transaction<DB>,
  { workspaceId, connectionId, endUserId }: { workspaceId: string; connectionId: string; endUserId: string },
  keys: readonly IdentityKey[],
  now: Date,
): Promise<void> {
  const common = { workspace_id: workspaceId, connection_id: connectionId, end_user_id: endUserId, seen_at: now };
  await trx
    .insertInto('channel_identities')
    .values(keys.map(({ kind, value }) => ({ ...common, kind, value })))
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'connection_id', 'kind', 'value'])
        .doUpdateSet({ end_user_id: endUserId, seen_at: sql`greatest(channel_identities.seen_at, excluded.seen_at)` }),
    )
    .execute();
}

/** Everything by which an end user is known, what was seen last first. */
export function selectIdentities(db: Kysely<DB>, workspaceId: string, endUserId: string): Promise<IdentityKey[]> {
  return db
    .selectFrom('channel_identities')
    .select(['kind', 'value'])
    .where('workspace_id', '=', workspaceId)
    .where('end_user_id', '=', endUserId)
    .orderBy('seen_at', 'desc')
    .orderBy('kind')
    .orderBy('value')
    .execute();
}
