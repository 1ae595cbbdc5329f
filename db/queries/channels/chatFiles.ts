import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { ChatFiles, DB } from '../../../generated/db.ts';
import type { VisitorKey } from './chatPages.ts';

/** A file that a visitor of a chat page uploaded. */
export type ChatFileRow = Selectable<ChatFiles>;

/** Adds a file. */
export async function insertChatFile(db: Kysely<DB>, row: Insertable<ChatFiles>): Promise<void> {
  await db.insertInto('chat_files').values(row).execute();
}

/** The files of a visitor among these. */
export function selectChatFiles(
  db: Kysely<DB>,
  { workspaceId, connectionId, visitor }: VisitorKey,
  ids: readonly string[],
): Promise<ChatFileRow[]> {
  return db
    .selectFrom('chat_files')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('visitor', '=', visitor)
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .execute();
}

/** A file of a connection, whoever uploaded it. */
export function findChatFile(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
  id: string,
): Promise<ChatFileRow | undefined> {
  return db
    .selectFrom('chat_files')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Notes that a message has these files. */
export async function updateChatFilesSent(db: Kysely<DB>, workspaceId: string, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('chat_files')
    .set({ is_sent: true })
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .execute();
}

/** Bytes of a visitor's files that no message has. */
export async function findUnsentBytes(db: Kysely<DB>, of: VisitorKey): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(size_bytes), 0)::bigint as bytes from chat_files
    where workspace_id = ${of.workspaceId} and connection_id = ${of.connectionId} and visitor = ${of.visitor} and not is_sent`.execute(
    db,
  );
  return rows[0]?.bytes ?? 0;
}

/** Files of all workspaces that were uploaded before a time and that no message has. */
export async function findUnsentChatFiles(
  system: Kysely<DB>,
  before: Date,
  limit: number,
): Promise<Pick<ChatFileRow, 'workspace_id' | 'id'>[]> {
  return await system
    .selectFrom('chat_files')
    .select(['workspace_id', 'id'])
    .where('is_sent', '=', false)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute();
}

/** Removes a file that no message has. Returns whether it was there. */
export async function removeUnsentChatFile(db: Kysely<DB>, workspaceId: string, id: string): Promise<boolean> {
  const result = await db
    .deleteFrom('chat_files')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('is_sent', '=', false)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
