import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { InboundRow } from './inboundMessages.ts';

/** How many failed messages connections have, by their ids; those without any are left out. */
export async function countFailedInbound(
  system: Kysely<DB>,
  workspaceId: string | undefined,
): Promise<ReadonlyMap<string, number>> {
  let failed = system.selectFrom('inbound_messages').where('status', '=', 'failed');
  if (workspaceId !== undefined) failed = failed.where('workspace_id', '=', workspaceId);
  const rows = await failed
    .select(['connection_id', sql<number>`count(*)::int`.as('messages')])
    .groupBy('connection_id')
    .execute();
  return new Map(rows.map(({ connection_id, messages }) => [connection_id, messages]));
}

/** The failed messages of a connection, newest first. */
export function selectFailedInbound(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
  limit: number,
): Promise<InboundRow[]> {
  return db
    .selectFrom('inbound_messages')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('status', '=', 'failed')
    .orderBy('received_at', 'desc')
    .limit(limit)
    .execute();
}

/** The message of a person with this id, whichever workspace it is of. */
export async function findInboundAnywhere(system: Kysely<DB>, id: string): Promise<InboundRow | undefined> {
  return await system.selectFrom('inbound_messages').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Which messages of a workspace are worked again. */
export type ReplayedMessages = { id: string } | { connectionId: string; since: Date | null };

/**
 * Lets failed messages wait again, as if they had just come: those that are in a conversation to be answered, the others to be taken
 * into one. Of a connection, those are left out whose turn had called a tool, since nobody knows what it did; one that is named by its id
 * is worked all the same, and may be one that came while its connection was off.
 */
export async function updateReplayed(
  db: Kysely<DB>,
  workspaceId: string,
  messages: ReplayedMessages,
  now: Date,
): Promise<{ replayed: number; leftOut: number }> {
  const chosen =
    'id' in messages
      ? sql`i.id = ${messages.id} and (i.status = 'failed' or (i.status = 'ignored' and i.error_code = 'CONNECTION_INACTIVE'))`
      : sql`i.connection_id = ${messages.connectionId} and i.status = 'failed'
          and i.received_at >= ${messages.since ?? new Date(0)}`;
  const isSafe =
    'id' in messages
      ? sql`true`
      : sql`not exists (select from turn_steps s where s.workspace_id = ${workspaceId} and s.turn_id = i.turn_id and s.kind = 'tool'
          and s.status <> 'waiting')`;
  const { rows } = await sql<{ replayed: number; chosen: number }>`
    with chosen as (
      select i.id, ${isSafe} as is_safe from inbound_messages i where i.workspace_id = ${workspaceId} and ${chosen} for update
    ), replayed as (
      update inbound_messages i set status = case when i.message_id is null then 'received' else 'taken' end, turn_id = null,
        attempts = 0, due_at = ${now}, error_code = null, error_message = null, settled_at = null
      from chosen where i.workspace_id = ${workspaceId} and i.id = chosen.id and chosen.is_safe
      returning i.id
    )
    select (select count(*) from replayed)::int as replayed, count(*)::int as chosen from chosen`.execute(db);
  const { replayed = 0, chosen: found = 0 } = rows[0] ?? {};
  return { replayed, leftOut: found - replayed };
}
