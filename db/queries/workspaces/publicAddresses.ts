import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, PublicAddresses, Workspaces } from '../../../generated/db.ts';

/** An address under which something is reached without an API key. */
export type PublicAddressRow = Selectable<PublicAddresses>;

/** Whose address it is, and what the workspace may have under way. */
export type AddressOwner = Pick<PublicAddressRow, 'address_hash' | 'workspace_id' | 'kind' | 'target_id'> &
  Pick<Selectable<Workspaces>, 'request_limit'>;

/** Adds an address for a target of a workspace. */
export async function insertPublicAddress(
  db: Kysely<DB>,
  address: Pick<PublicAddressRow, 'address_hash' | 'workspace_id' | 'kind' | 'target_id'> & { created_at?: Date },
): Promise<void> {
  await db.insertInto('public_addresses').values(address).execute();
}

/**
 * The addresses with these hashes, in any order: those that have not expired at `now`, and whose workspace is not deleted. `keys` sees
 * the addresses of all workspaces, and gives up after some seconds.
 */
export async function findPublicAddresses(
  keys: Kysely<DB>,
  hashes: readonly Buffer[],
  now: Date,
): Promise<AddressOwner[]> {
  return await keys
    .selectFrom('public_addresses')
    .innerJoin('workspaces', 'workspaces.id', 'public_addresses.workspace_id')
    .select(['address_hash', 'workspace_id', 'kind', 'target_id', 'request_limit'])
    .where(sql<boolean>`public_addresses.address_hash = any(${hashes}::bytea[])`)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .where('workspaces.deleted_at', 'is', null)
    .execute();
}

/** Lets the addresses of a target that work without end work until `until` only. */
export async function updatePublicAddressEnd(
  db: Kysely<DB>,
  workspaceId: string,
  targetId: string,
  until: Date,
): Promise<void> {
  await db
    .updateTable('public_addresses')
    .set({ expires_at: until })
    .where('workspace_id', '=', workspaceId)
    .where('target_id', '=', targetId)
    .where('expires_at', 'is', null)
    .execute();
}

/** Removes all addresses of a target. They stop working at once. */
export async function removePublicAddresses(db: Kysely<DB>, workspaceId: string, targetId: string): Promise<void> {
  await db
    .deleteFrom('public_addresses')
    .where('workspace_id', '=', workspaceId)
    .where('target_id', '=', targetId)
    .execute();
}

/** Removes the addresses of a target that have expired: each replacement leaves one. */
export async function removeExpiredAddresses(
  db: Kysely<DB>,
  workspaceId: string,
  targetId: string,
  now: Date,
): Promise<void> {
  await db
    .deleteFrom('public_addresses')
    .where('workspace_id', '=', workspaceId)
    .where('target_id', '=', targetId)
    .where('expires_at', '<=', now)
    .execute();
}

/** Whether any address leads to the target now. */
export async function hasPublicAddress(
  db: Kysely<DB>,
  workspaceId: string,
  targetId: string,
  now: Date,
): Promise<boolean> {
  const row = await db
    .selectFrom('public_addresses')
    .select('kind')
    .where('workspace_id', '=', workspaceId)
    .where('target_id', '=', targetId)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
