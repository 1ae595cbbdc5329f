import { type Kysely, type Selectable, sql } from 'kysely';
import type { ApiKeys, DB, Workspaces } from '../../../generated/db.ts';
import { apiKeyAdded, apiKeyRevoked } from '../../events.ts';
import { inTransaction } from '../../transaction.ts';
import { newestFirst } from '../shared/page.ts';

/** A key as it may be shown: without its hash. */
export type ApiKeyRow = Omit<Selectable<ApiKeys>, 'key_hash'>;

const SHOWN = ['id', 'workspace_id', 'name', 'display', 'created_at', 'last_used_at', 'revoked_at'] as const;

/**
 * Stores a key by its hash, and tells every replica that it works now. `db` is the system handle here and below: keys are looked up
 * before the workspace is known.
 */
export async function insertApiKey(
  db: Kysely<DB>,
  key: { id: string; workspaceId: string; name: string; hash: Buffer; display: string },
): Promise<ApiKeyRow> {
  return await inTransaction(db, async (transaction) => {
    const row = await transaction
      .insertInto('api_keys')
      .values({ id: key.id, workspace_id: key.workspaceId, name: key.name, key_hash: key.hash, display: key.display })
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
    await apiKeyAdded.notify(transaction, { apiKeyId: key.id });
    return row;
  });
}

/** Keys, revoked ones included, of one workspace or of all; newest first. */
export async function selectApiKeys(db: Kysely<DB>, workspaceId?: string): Promise<ApiKeyRow[]> {
  let query = db.selectFrom('api_keys').select(SHOWN).$call(newestFirst);
  if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId);
  return await query.execute();
}

/** Revokes a key and tells every replica. Undefined when there is no such key; revoking twice keeps the first time. */
export async function revokeApiKey(db: Kysely<DB>, id: string): Promise<ApiKeyRow | undefined> {
  return await inTransaction(db, async (transaction) => {
    const row = await transaction
      .updateTable('api_keys')
      .set({ revoked_at: sql`coalesce(revoked_at, now())` })
      .where('id', '=', id)
      .returning(SHOWN)
      .executeTakeFirst();
    if (row) await apiKeyRevoked.notify(transaction, { apiKeyId: id });
    return row;
  });
}

/** Whose key it is, and what the workspace may have under way. */
export type KeyOwner = Pick<Selectable<ApiKeys>, 'id' | 'workspace_id' | 'key_hash'> &
  Pick<Selectable<Workspaces>, 'request_limit' | 'turn_limit'>;

/** The keys with these SHA-256, in any order: those that are not revoked and whose workspace is not deleted. */
export async function findApiKeysByHash(db: Kysely<DB>, hashes: readonly Buffer[]): Promise<KeyOwner[]> {
  return await db
    .selectFrom('api_keys')
    .innerJoin('workspaces', 'workspaces.id', 'api_keys.workspace_id')
    .select(['api_keys.id', 'workspace_id', 'key_hash', 'request_limit', 'turn_limit'])
    .where(sql<boolean>`api_keys.key_hash = any(${hashes}::bytea[])`)
    .where('api_keys.revoked_at', 'is', null)
    .where('workspaces.deleted_at', 'is', null)
    .execute();
}

/** Notes that the key was used at `now`; writes nothing when the last note is less than a minute old, whichever replica wrote it. */
export async function touchApiKey(db: Kysely<DB>, id: string, now: Date): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: now })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', new Date(now.getTime() - 60_000))]))
    .execute();
}
