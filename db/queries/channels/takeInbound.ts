import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { inboundStored } from '../../events.ts';
import type { StoredAttachment } from '../../stored/attachment.ts';
import type { StoredInboundFile } from '../../stored/inboundFile.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import type { InboundRow } from './inboundMessages.ts';

/** What a person sent and that is not worked yet, in the order in which it was sent. At most `limit` of it. */
export function selectReceived(
  db: Kysely<DB>,
  { workspaceId, connectionId, person }: { workspaceId: string; connectionId: string; person: string },
  { now, limit }: { now: Date; limit: number },
): Promise<InboundRow[]> {
  return db
    .selectFrom('inbound_messages')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('connection_id', '=', connectionId)
    .where('person_key', '=', person)
    .where('status', '=', 'received')
    .where('due_at', '<=', now)
    .orderBy('sent_at')
    .orderBy('received_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Locks those that are still not worked, and returns their ids. Another process may work on the others. */
export async function lockReceived(
  trx: Transaction<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('inbound_messages')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where('status', '=', 'received')
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The open conversation of a person on a connection, locked until the transaction ends. */
export async function lockOpenConversation(
  trx: Transaction<DB>,
  { workspaceId, connectionId, endUserId }: { workspaceId: string; connectionId: string; endUserId: string },
): Promise<ConversationRow | undefined> {
  const { rows } = await sql<ConversationRow>`
    select * from conversations
    where workspace_id = ${workspaceId} and end_user_id = ${endUserId} and connection_id = ${connectionId} and not is_ended
      and num_nulls(deleted_at) = 1
    order by last_message_at desc, id limit 1 for no key update`.execute(trx);
  return rows[0];
}

/** Begins a conversation over a channel, without a message yet. */
export async function insertInboundConversation(
  trx: Transaction<DB>,
  conversation: Pick<
    ConversationRow,
    | 'workspace_id'
    | 'id'
    | 'agent_id'
    | 'external_user_id'
    | 'channel'
    | 'connection_id'
    | 'end_user_id'
    | 'client_id'
    | 'client_user_id'
  >,
  now: Date,
): Promise<ConversationRow> {
  return await trx
    .insertInto('conversations')
    .values({ ...conversation, started_at: now, last_message_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** How many messages of a conversation wait for an answer, and since when the first of them does. */
export async function findWaiting(
  trx: Transaction<DB>,
  workspaceId: string,
  conversationId: string,
): Promise<{ count: number; since: Date | null }> {
  const { rows } = await sql<{ count: number; since: Date | null }>`
    select count(*)::int as count, min(received_at) as since from inbound_messages
    where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and status = 'taken'`.execute(trx);
  return rows[0] ?? { count: 0, since: null };
}

/** What becomes of something that a person sent. */
export interface TakenRow {
  id: string;
  status: 'taken' | 'ignored';
  code: string | null;
  message_id: string | null;
  files: readonly StoredInboundFile[] | null;
  due_at: Date;
}

/** A message as it is stored in the conversation. */
export interface TakenMessage {
  id: string;
  content: string;
  model_text: string | null;
  attachments: readonly StoredAttachment[];
  sent_at: Date;
}

/**
 * Stores what a person said in the conversation, in the given order, and notes what becomes of it. A turn that runs in the conversation
 * is told, in whichever process it is.
 */
export async function insertTaken(
  trx: Transaction<DB>,
  conversation: Pick<ConversationRow, 'workspace_id' | 'id' | 'turn_id'>,
  endUserId: string,
  {
    rows,
    messages,
    snippet,
    lastInboundAt,
    now,
  }: {
    rows: readonly TakenRow[];
    messages: readonly TakenMessage[];
    snippet: string | null;
    /** When the person last wrote; null when only something about the person was noted. */
    lastInboundAt: Date | null;
    now: Date;
  },
): Promise<void> {
  const { workspace_id: workspaceId, id: conversationId, turn_id: turnId } = conversation;
  if (messages.length > 0) {
    await sql`
      insert into messages (workspace_id, id, conversation_id, role, content, model_text, attachments, cost_ops, sent_at)
      select ${workspaceId}, id, ${conversationId}, 'user', content, model_text, attachments, 0, sent_at
      from rows from (jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as (id uuid, content text, model_text text, attachments jsonb,
        sent_at timestamptz))
        with ordinality as said
      order by said.ordinality`.execute(trx);
    await sql`
      update conversations set message_count = message_count + ${messages.length}::int, last_message_at = greatest(last_message_at, ${now}),
        last_message_snippet = coalesce(${snippet}, last_message_snippet), last_inbound_at = greatest(last_inbound_at, ${lastInboundAt}),
        follow_up_at = case when ${lastInboundAt}::timestamptz is null then follow_up_at end
      where workspace_id = ${workspaceId} and id = ${conversationId}`.execute(trx);
  }
  await sql`
    update inbound_messages i set status = taken.status, error_code = taken.code, message_id = taken.message_id, files = taken.files,
      due_at = taken.due_at, end_user_id = ${endUserId}, conversation_id = ${conversationId},
      settled_at = case when taken.status = 'taken' then null else ${now}::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as taken (id uuid, status text, code text, message_id uuid, files jsonb,
      due_at timestamptz)
    where i.workspace_id = ${workspaceId} and i.id = taken.id`.execute(trx);
  if (turnId !== null && rows.some(({ status }) => status === 'taken'))
    await inboundStored.notify(trx, { workspaceId, conversationId });
}

/**
 * Whether a message of our account is one that we sent: `unknown` while something is being sent to the person whose provider's id is not
 * stored yet.
 */
export async function findOwnMessage(
  db: Kysely<DB>,
  { workspaceId, connectionId, conversationId }: { workspaceId: string; connectionId: string; conversationId: string },
  providerMessageId: string,
): Promise<'ours' | 'theirs' | 'unknown'> {
  const { rows } = await sql<{ ours: boolean; sending: boolean }>`
    select exists (select from deliveries where workspace_id = ${workspaceId} and connection_id = ${connectionId}
        and provider_message_id = ${providerMessageId}) as ours,
      exists (select from deliveries where workspace_id = ${workspaceId} and conversation_id = ${conversationId}
        and status = 'sending') as sending`.execute(db);
  const [row] = rows;
  if (row?.ours) return 'ours';
  return row?.sending ? 'unknown' : 'theirs';
}

/** Lets something that was received wait. */
export async function updateReceivedDue(
  db: Kysely<DB>,
  workspaceId: string,
  ids: readonly string[],
  dueAt: Date,
): Promise<void> {
  await sql`
    update inbound_messages set due_at = ${dueAt}
    where workspace_id = ${workspaceId} and id = any (${ids}::uuid[]) and status = 'received'`.execute(db);
}
