import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { DB, NativeConnections } from '../../../generated/db.ts';
import { notLinked } from '../agents/agentLinks.ts';
import { newestFirst } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { revising } from '../workspaces/revision.ts';

/** A connection of the workspace to a toolkit. */
export type NativeConnectionRow = Selectable<NativeConnections>;

/** The workspace's connections, newest first. */
export function selectConnections(db: Kysely<DB>, workspaceId: string): Promise<NativeConnectionRow[]> {
  return connections(db, workspaceId).execute();
}

/** The connections that the agent's draft is not linked to, newest first. */
export function listLinkableConnections(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
): Promise<NativeConnectionRow[]> {
  return connections(db, workspaceId)
    .where(notLinked(workspaceId, agentId, 'native_mcp', 'native_connections.id'))
    .execute();
}

/** The connections with these ids that exist, in no particular order. */
export async function findConnections(
  db: Kysely<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<NativeConnectionRow[]> {
  if (ids.length === 0) return [];
  return connections(db, workspaceId).where(sql<boolean>`id = any (${ids}::uuid[])`).execute();
}

/** Adds a connection. Fails on `native_connections_account_key` when the workspace has the account already. */
export async function insertConnection(db: Kysely<DB>, row: Insertable<NativeConnections>): Promise<void> {
  await revising(db, row.workspace_id, (trx) => trx.insertInto('native_connections').values(row).execute());
}

/** Marks a connection as deleted. Returns whether there was one. */
export function softDeleteConnection(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return revising(db, workspaceId, (trx) =>
    softDelete(trx, 'native_connections', { workspaceId, id }, now, { updated_at: now }),
  );
}

function connections(db: Kysely<DB>, workspaceId: string) {
  return db
    .selectFrom('native_connections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .$call(newestFirst);
}
