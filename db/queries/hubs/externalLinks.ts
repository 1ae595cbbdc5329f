import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { DB, ExternalLinks } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { softDelete } from '../shared/softDelete.ts';

/** A link in the menu of a hub. */
export type ExternalLinkRow = Selectable<ExternalLinks>;

/** The links of a hub in the order of the menu. */
export async function selectExternalLinks(db: Kysely<DB>, workspaceId: string): Promise<ExternalLinkRow[]> {
  return await db
    .selectFrom('external_links')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .orderBy('display_order')
    .orderBy('id')
    .execute();
}

/** The link, if it exists in the workspace and is not deleted. */
export async function findExternalLink(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<ExternalLinkRow | undefined> {
  return await db
    .selectFrom('external_links')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .executeTakeFirst();
}

/** How many links a hub has, and the place of the last one; 0 without any. */
export async function findLastLink(db: Kysely<DB>, workspaceId: string): Promise<{ count: number; place: number }> {
  return await db
    .selectFrom('external_links')
    .select([sql<number>`count(*)`.as('count'), sql<number>`coalesce(max(display_order), 0)`.as('place')])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
}

/** Adds a link. */
export async function insertExternalLink(db: Kysely<DB>, row: Insertable<ExternalLinks>): Promise<ExternalLinkRow> {
  return await db.insertInto('external_links').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Changes a link; absent = unchanged. Undefined when there is none. */
export async function updateExternalLinkRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Pick<Updateable<ExternalLinks>, 'title' | 'url'> & { updated_at: Date },
): Promise<ExternalLinkRow | undefined> {
  return await db
    .updateTable('external_links')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a link for the API, and takes it out of the packages of plans. Returns whether there was one that was not deleted yet. */
export async function softDeleteExternalLink(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const deleted = await softDelete(trx, 'external_links', { workspaceId, id }, now);
  if (deleted) {
    await trx
      .deleteFrom('hub_package_links')
      .where('workspace_id', '=', workspaceId)
      .where('link_id', '=', id)
      .execute();
  }
  return deleted;
}
