import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { DB, ExternalMcps } from '../../../generated/db.ts';
import { notLinked } from '../agents/agentLinks.ts';
import { likeContains } from '../shared/like.ts';
import { type Page, type PageOf, selectPage } from '../shared/page.ts';

/** An external MCP server with everything that is stored of it. */
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

/** What the API shows of a server. */
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

/** As `findExternalMcp`, and nobody else changes it before the transaction ends. */
export function lockExternalMcp(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<ExternalMcpRow | undefined> {
  return oneServer(trx, workspaceId, id).forNoKeyUpdate().executeTakeFirst();
}

/** A page of servers, newest first, and how many there are on all pages. */
export function listExternalMcps(
  db: Kysely<DB>,
  workspaceId: string,
  filter: { status: ExternalMcpStatus | undefined; search: string | undefined },
  page: Page,
): Promise<PageOf<ShownExternalMcp>> {
  const { status, search } = filter;
  let matching = db.selectFrom('external_mcps').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (status !== undefined) matching = matching.where('status', '=', status);
  if (search !== undefined) matching = matching.where('name', 'ilike', likeContains(search));
  return selectPage(matching, (query) => query.select(SHOWN).orderBy('created_at', 'desc').orderBy('id', 'desc'), page);
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
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Stores a new server and answers with it. Fails on `external_mcps_name_key` when the name is taken. */
export function insertExternalMcp(db: Kysely<DB>, row: Insertable<ExternalMcps>): Promise<ExternalMcpRow> {
  return db.insertInto('external_mcps').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Changes columns of a server and answers with it. Fails on `external_mcps_name_key` when the name is taken. */
export function updateExternalMcpRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<ExternalMcps>,
): Promise<ExternalMcpRow> {
  return db
    .updateTable('external_mcps')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Takes the number of one more discovery; the row has it in `discoveries_begun`. */
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

/** Removes a server that never was connected, without a trace. One that was changed since `configVersion` stays. */
export async function discardExternalMcp(
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

/** Deletes the server for the API and erases its credential. Answers whether there was one. */
export async function softDeleteExternalMcp(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('external_mcps')
    .set({ deleted_at: now, credential: null })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
