import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { ChannelConnections, DB } from '../../../generated/db.ts';
import { pausedAt } from '../conversations/pause.ts';

/** A chat page that is open: a connection of type web_chat that is active and configured, with what the page shows of its agent. */
export interface ChatPageRow
  extends Pick<Selectable<ChannelConnections>, 'workspace_id' | 'id' | 'agent_id' | 'config' | 'credentials'> {
  agent_name: string;
  /** Who decides on calls that wait for an approval. */
  approvals_by: 'user' | 'operator';
}

/** The chat page of this connection; undefined when it is not open. */
export function findChatPage(
  db: Kysely<DB>,
  workspaceId: string,
  connectionId: string,
): Promise<ChatPageRow | undefined> {
  return db
    .selectFrom('channel_connections as c')
    .innerJoin('agents as a', (join) =>
      join.onRef('a.workspace_id', '=', 'c.workspace_id').onRef('a.id', '=', 'c.agent_id'),
    )
    .innerJoin('workspaces as w', 'w.id', 'c.workspace_id')
    .select(['c.workspace_id', 'c.id', 'c.agent_id', 'c.config', 'c.credentials', 'a.name as agent_name'])
    .select(sql<'user' | 'operator'>`coalesce(a.approvals_by, w.approvals_by, 'operator')`.as('approvals_by'))
    .where('c.workspace_id', '=', workspaceId)
    .where('c.id', '=', connectionId)
    .where('c.channel_type', '=', 'web_chat')
    .where('c.is_active', '=', true)
    .where('c.is_configured', '=', true)
    .where('c.deleted_at', 'is', null)
    .where('a.deleted_at', 'is', null)
    .executeTakeFirst();
}

/** A visitor of a chat page. */
export interface VisitorKey {
  workspaceId: string;
  connectionId: string;
  /** The value of the identity of kind visitor. */
  visitor: string;
}

/** A message as the chat page shows it. */
export interface ChatMessageRow {
  seq: number;
  id: string;
  conversation_id: string;
  role: 'user' | 'assistant';
  content: string;
  ui: Record<string, unknown> | null;
  /** The id that the browser gave it; null for what came otherwise. */
  sent_as: string | null;
  /** Files that the visitor sent with it: their ids. */
  file_ids: string[];
  author: string | null;
  audio_key: string | null;
  sent_at: Date;
}

/** SQL: the conversations of a visitor on the connection. */
const conversationsOf = ({ workspaceId, connectionId, visitor }: VisitorKey) => sql`
  select c.id from conversations c
  join channel_identities i on i.workspace_id = c.workspace_id and i.end_user_id = c.end_user_id
  where c.workspace_id = ${workspaceId} and c.connection_id = ${connectionId} and c.deleted_at is null
    and i.connection_id = ${connectionId} and i.kind = 'visitor' and i.value = ${visitor}`;

/**
 * Messages of a visitor, of all the visitor's conversations on the connection, oldest first: at most `limit` after the message with the
 * number `after`, or the newest before `before`.
 */
export async function selectChatMessages(
  db: Kysely<DB>,
  of: VisitorKey,
  { after, before, limit }: { after?: number; before?: number; limit: number },
): Promise<ChatMessageRow[]> {
  const { rows } = await sql<ChatMessageRow>`
    select m.seq, m.id, m.conversation_id, m.role, m.content, m.ui, m.author, m.audio_key, m.sent_at,
      i.provider_message_id as sent_as,
      array(select file ->> 'reference' from jsonb_array_elements(coalesce(i.event -> 'media', '[]')) as file) as file_ids
    from messages m
    left join lateral (select r.provider_message_id, r.event from inbound_messages r
      where r.workspace_id = ${of.workspaceId} and r.conversation_id = m.conversation_id and r.message_id = m.id
      order by r.received_at limit 1) as i on true
    where m.workspace_id = ${of.workspaceId} and m.conversation_id in (${conversationsOf(of)})
      and m.seq > ${after ?? 0}::bigint and m.seq < ${before ?? Number.MAX_SAFE_INTEGER}::bigint
    order by m.seq ${after === undefined ? sql`desc` : sql`asc`} limit ${limit}`.execute(db);
  return after === undefined ? rows.reverse() : rows;
}

/**
 * SQL value: the code for which the newest message of a conversation got no answer, when it is one of a person and was given up; else null.
 * `c` is the conversation.
 */
export function failureOf(workspaceId: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`(select r.error_code from inbound_messages r
        where r.workspace_id = ${workspaceId} and r.conversation_id = c.id and r.status = 'failed'
          and r.message_id = (select m.id from messages m where m.workspace_id = ${workspaceId} and m.conversation_id = c.id
            order by m.seq desc limit 1)
        limit 1)`;
}

/** Where a visitor's newest conversation stands. */
export interface ChatStanding {
  id: string;
  is_paused: boolean;
  paused_by: string | null;
  is_ended: boolean;
  /** Why the newest message got no answer: the code of an error; null = it has one, or waits for it. */
  failure: string | null;
  /** Calls that wait for a decision, the oldest first. */
  waiting: { id: string; toolName: string; input: Record<string, unknown> }[];
}

/** The newest conversation of a visitor on the connection; undefined when there is none. */
export async function findChatStanding(db: Kysely<DB>, of: VisitorKey, now: Date): Promise<ChatStanding | undefined> {
  const { rows } = await sql<ChatStanding>`
    select c.id, ${pausedAt(now, 'c')} as is_paused, c.paused_by, c.is_ended, ${failureOf(sql`${of.workspaceId}`)} as failure,
      (select coalesce(json_agg(json_build_object('id', a.id, 'toolName', a.tool_name, 'input', a.input) order by a.requested_at, a.id), '[]')
        from approvals a where a.workspace_id = ${of.workspaceId} and a.conversation_id = c.id and a.status = 'pending') as waiting
    from conversations c
    where c.workspace_id = ${of.workspaceId} and c.id in (${conversationsOf(of)})
    order by c.started_at desc, c.id desc limit 1`.execute(db);
  return rows[0];
}
