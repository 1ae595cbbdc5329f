import type { Insertable, Kysely, Selectable } from 'kysely';
import type { DB, HubLogos } from '../../../generated/db.ts';

/** A file of a logo that is stored, being stored, or not removed yet. */
export type HubLogoRow = Selectable<HubLogos>;

/** Notes that a file is about to be stored. */
export async function insertHubLogo(db: Kysely<DB>, row: Insertable<HubLogos>): Promise<void> {
  await db.insertInto('hub_logos').values(row).execute();
}

/** Says when the file is removed; null = a hub shows it. Returns whether there is a row that is not due to be removed at `now`. */
export async function updateLogoPurge(
  db: Kysely<DB>,
  workspaceId: string,
  key: string,
  { purgeAt, now }: { purgeAt: Date | null; now: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('hub_logos')
    .set({ purge_at: purgeAt })
    .where('workspace_id', '=', workspaceId)
    .where('key', '=', key)
    .where((where) => where.or([where('purge_at', 'is', null), where('purge_at', '>', now)]))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Files of all workspaces that are due to be removed, the oldest first. */
export async function findUnusedLogos(
  system: Kysely<DB>,
  now: Date,
  limit: number,
): Promise<Pick<HubLogoRow, 'workspace_id' | 'key'>[]> {
  return await system
    .selectFrom('hub_logos')
    .select(['workspace_id', 'key'])
    .where('purge_at', '<=', now)
    .orderBy('purge_at')
    .limit(limit)
    .execute();
}

/** Removes the row of a file that is due to be removed. */
export async function removeUnusedLogo(db: Kysely<DB>, workspaceId: string, key: string, now: Date): Promise<void> {
  await db
    .deleteFrom('hub_logos')
    .where('workspace_id', '=', workspaceId)
    .where('key', '=', key)
    .where('purge_at', '<=', now)
    .execute();
}
