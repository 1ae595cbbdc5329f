import type { Kysely, Updateable } from 'kysely';
import type { Agents, DB } from '../../../generated/db.ts';

/** The tables whose rows stay when they are deleted for the API. */
export type SoftDeletedTable = {
  [Table in keyof DB]: DB[Table] extends { workspace_id: unknown; id: unknown; deleted_at: unknown } ? Table : never;
}[keyof DB];

/**
 * Deletes a row for the API: it stays, with the time of its deletion, and `columns` are set along with it (what must not outlive it).
 * Returns whether there was one that was not deleted yet.
 */
export async function softDelete<Table extends SoftDeletedTable>(
  db: Kysely<DB>,
  table: Table,
  { workspaceId, id }: { workspaceId: string; id: string },
  now: Date,
  columns: Omit<Updateable<DB[Table]>, 'deleted_at'> = {} as Omit<Updateable<DB[Table]>, 'deleted_at'>,
): Promise<boolean> {
  const result = await db
    // All these tables have the three columns; the compiler sees that for one table, not for a parameter.
    .updateTable(table as 'agents')
    .set({ ...(columns as Updateable<Agents>), deleted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
