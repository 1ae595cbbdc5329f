import type { Kysely, Selectable } from 'kysely';
import type { DB, PublicAddresses } from '../../../generated/db.ts';

/** An address under which something is reached without an API key. */
export type PublicAddressRow = Selectable<PublicAddresses>;

/** Adds an address for a target of a workspace. */
export async function insertPublicAddress(
  db: Kysely<DB>,
  address: Pick<PublicAddressRow, 'address_hash' | 'workspace_id' | 'kind' | 'target_id'> & { created_at?: Date },
): Promise<void> {
  await db.insertInto('public_addresses').values(address).execute();
}

/**
 * Whose address this is; undefined for one that does not exist or has expired. `keys` sees the addresses of all workspaces, and gives up
 * after some seconds.
 */
export async function findPublicAddress(
  keys: Kysely<DB>,
  kind: 'automation' | 'channel',
  hash: Buffer,
  now: Date,
): Promise<PublicAddressRow | undefined> {
  return await keys
    .selectFrom('public_addresses')
    .selectAll()
    .where('address_hash', '=', hash)
    .where('kind', '=', kind)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .executeTakeFirst();
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
