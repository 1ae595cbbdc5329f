import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { DB, ExternalMcps } from '../../../generated/db.ts';
import { notLinked } from '../agents/agentLinks.ts';
import { likeContains } from '../shared/like.ts';
import { newestFirst, type Page, type PageOf, selectPage } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { revising } from '../workspaces/revision.ts';

/** An external MCP server with all its columns. */
export type ExternalMcpRow = Selectable<ExternalMcps>;

/** State of the connection to a server. */
export type ExternalMcpStatus = ExternalMcpRow['status'];

const SHOWN = [
  'id',
  'name',
  'url',
  'auth_type',
  'auth_header_name',
  'status',
  'error_message',
  'last_discovered_at',
  'tools',
  'created_at',
  'updated_at',
] as const;

/** The columns that the API shows. */
export type ShownExternalMcp = Pick<ExternalMcpRow, (typeof SHOWN)[number]>;

function oneServer(db: Kysely<DB>, workspaceId: string, id: string) {
  return db
    .selectFrom('external_mcps')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
}

/** The server, if it exists in the workspace and is not deleted. */
export function findExternalMcp(db: Kysely<DB>, workspaceId: string, id: string): Promise<ExternalMcpRow | undefined> {
  return oneServer(db, workspaceId, id).executeTakeFirst();
}

/** As `findExternalMcp`, locked until the transaction ends: other changes wait. */
export function lockExternalMcp(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<ExternalMcpRow | undefined> {
  return oneServer(trx, workspaceId, id).forNoKeyUpdate().executeTakeFirst();
}

/** A page of servers, newest first, and how many there are on all pages. */
export function selectExternalMcps(
  db: Kysely<DB>,
  workspaceId: string,
  filter: { status: ExternalMcpStatus | undefined; search: string | undefined },
  page: Page,
): Promise<PageOf<ShownExternalMcp>> {
  const { status, search } = filter;
  let matching = db.selectFrom('external_mcps').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (search !== undefined) matching = matching.where('name', 'ilike', likeContains(search));
  return selectPage(matching, (query) => query.select(SHOWN).$call(newestFirst), page);
}

/** The connected servers that the agent is not linked to, newest first. */
export function listLinkableExternalMcps(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
): Promise<Pick<ExternalMcpRow, 'id' | 'name' | 'description' | 'url' | 'status'>[]> {
  return db
    .selectFrom('external_mcps')
    .select(['id', 'name', 'description', 'url', 'status'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where('status', '=', 'CONNECTED')
    .where(notLinked(workspaceId, agentId, 'external_mcp', 'external_mcps.id'))
    .$call(newestFirst)
    .execute();
}

/** Stores a new server and returns it. Fails on `external_mcps_name_key` when the name is taken. */
export function insertExternalMcp(db: Kysely<DB>, row: Insertable<ExternalMcps>): Promise<ExternalMcpRow> {
  return revising(db, row.workspace_id, (trx) =>
    trx.insertInto('external_mcps').values(row).returningAll().executeTakeFirstOrThrow(),
  );
}

/** Changes columns of a server and returns it. Fails on `external_mcps_name_key` when the name is taken. */
export function updateExternalMcpRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<ExternalMcps>,
): Promise<ExternalMcpRow> {
  return revising(db, workspaceId, (trx) =>
    trx
      .updateTable('external_mcps')
      .set(change)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** Counts one more discovery: `discoveries_begun` of the returned row is its number. Undefined when there is no such server. */
export function beginDiscovery(db: Kysely<DB>, workspaceId: string, id: string): Promise<ExternalMcpRow | undefined> {
  return db
    .updateTable('external_mcps')
    .set({ discoveries_begun: sql<number>`discoveries_begun + 1` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Notes that a discovery found nothing new that turns read, and returns the server. No turn needs to read it anew. */
export function noteRefresh(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  noted: { discovery_settled: number; last_discovered_at: Date; tools_left_out: string | null },
): Promise<ExternalMcpRow> {
  return db
    .updateTable('external_mcps')
    .set(noted)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Removes the row of a server that was never connected, unless the server was changed since `configVersion`. */
export async function removeUnconnectedExternalMcp(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  configVersion: number,
): Promise<void> {
  await db
    .deleteFrom('external_mcps')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('config_version', '=', configVersion)
    .where('status', '<>', 'CONNECTED')
    .execute();
}

/** Marks the server as deleted and erases its credential. Returns whether there was one. */
export function softDeleteExternalMcp(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return revising(db, workspaceId, (trx) =>
    softDelete(trx, 'external_mcps', { workspaceId, id }, now, { credential: null }),
  );
}
