import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { ChannelConnections, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { newestFirst } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { revising } from '../workspaces/revision.ts';

/** A connection of an agent to a channel, with all its columns. */
export type ChannelConnectionRow = Selectable<ChannelConnections>;

/** What leaves a row with its connection: settings and secrets must not outlive it. */
const ERASED = {
  config: '{}',
  credentials: null,
  provider_account: null,
  is_configured: false,
  problem_code: null,
  problem_message: null,
  problem_at: null,
} as const satisfies Updateable<ChannelConnections>;

function oneConnection(db: Kysely<DB>, workspaceId: string, id: string) {
  return db
    .selectFrom('channel_connections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey());
}

/** The connection, if it exists in the workspace and is not deleted. */
export function findChannelConnection(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<ChannelConnectionRow | undefined> {
  return oneConnection(db, workspaceId, id).executeTakeFirst();
}

/** As `findChannelConnection`, locked until the transaction ends: other changes wait. */
export function lockChannelConnection(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<ChannelConnectionRow | undefined> {
  return oneConnection(trx, workspaceId, id).forNoKeyUpdate().executeTakeFirst();
}

/** The agent's connections, newest first: one of each type at most. */
export function selectConnectionsOfAgent(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
): Promise<ChannelConnectionRow[]> {
  return db
    .selectFrom('channel_connections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('deleted_at', 'is', null)
    .$call(newestFirst)
    .execute();
}

/** The connection, whichever workspace it is of. */
export async function findConnectionAnywhere(
  system: Kysely<DB>,
  id: string,
): Promise<ChannelConnectionRow | undefined> {
  return await system
    .selectFrom('channel_connections')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The connections of a workspace, or of all without one, newest first. */
export async function selectConnectionsAnywhere(
  system: Kysely<DB>,
  workspaceId: string | undefined,
): Promise<ChannelConnectionRow[]> {
  let rows = system.selectFrom('channel_connections').selectAll().where('deleted_at', 'is', null);
  if (workspaceId !== undefined) rows = rows.where('workspace_id', '=', workspaceId);
  return await rows.$call(newestFirst).execute();
}

/** The connections of the workspace that have one of these accounts at the provider. */
export function selectConnectionsByAccounts(
  db: Kysely<DB>,
  workspaceId: string,
  channelType: ChannelConnectionRow['channel_type'],
  providerAccounts: readonly string[],
): Promise<ChannelConnectionRow[]> {
  return db
    .selectFrom('channel_connections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('channel_type', '=', channelType)
    .where(sql<boolean>`provider_account = any (${providerAccounts}::text[])`)
    .where('deleted_at', 'is', null)
    .execute();
}

/** Stores a new connection and returns it. Fails on `channel_connections_type_key` when the agent has one of the type. */
export function insertChannelConnection(
  db: Kysely<DB>,
  row: Insertable<ChannelConnections>,
): Promise<ChannelConnectionRow> {
  return revising(db, row.workspace_id, (trx) =>
    trx.insertInto('channel_connections').values(row).returningAll().executeTakeFirstOrThrow(),
  );
}

/**
 * Changes columns of a connection and returns it. Fails on `channel_connections_account_key` when another connection of the workspace has
 * the account.
 */
export function updateChannelConnectionRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<ChannelConnections>,
): Promise<ChannelConnectionRow> {
  return revising(db, workspaceId, (trx) =>
    trx
      .updateTable('channel_connections')
      .set(change)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** Marks a connection as deleted and erases its settings and secrets. Returns whether there was one. */
export function softDeleteChannelConnection(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  return revising(db, workspaceId, (trx) =>
    softDelete(trx, 'channel_connections', { workspaceId, id }, now, { ...ERASED, updated_at: now }),
  );
}

/** Marks all connections of an agent as deleted, as `softDeleteChannelConnection` does, and removes their addresses. */
export async function softDeleteConnectionsOfAgent(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  now: Date,
): Promise<void> {
  const deleted = await db
    .updateTable('channel_connections')
    .set({ ...ERASED, updated_at: now, deleted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  if (deleted.length === 0) return;
  const ids = deleted.map(({ id }) => id);
  await db
    .deleteFrom('public_addresses')
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`target_id = any (${ids}::uuid[])`)
    .execute();
}

/** Ends all open conversations that are held over a connection. */
export async function endConversationsOfConnection(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ is_ended: true, follow_up_at: null })
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('is_ended', '=', false)
    .execute();
}
