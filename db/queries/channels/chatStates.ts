import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { failureOf } from './chatPages.ts';

/** Pieces of live text that one look takes for one stream; the next look takes the rest. */
const PIECES_AT_ONCE = 16;

/** A visitor whose conversation a stream follows, and how much of its live text the stream has. */
export interface FollowedChat {
  workspaceId: string;
  connectionId: string;
  /** The value of the identity of kind visitor. */
  visitor: string;
  /** The attempt to answer that the stream has text of; null = none. */
  replyId: string | null;
  /** Code units of it. */
  offset: number;
}

/** The newest conversation of a visitor, as the streams of the chat page need it. */
export interface ChatState {
  conversationId: string;
  /** Number of the newest message; 0 = none. */
  lastSeq: number;
  isPaused: boolean;
  pausedUntil: Date | null;
  isEnded: boolean;
  /** See ChatStanding. */
  failure: string | null;
  /** Calls that wait for a decision. */
  waitingCalls: number;
  /** The reply that is being written; null = none. */
  replyId: string | null;
  /** Its pieces from the offset, or all when the attempt is another one. */
  pieces: { at: number; text: string }[];
}

/** The conversations, in the order in which they were asked for; undefined for a visitor who has none. */
export async function findChatStates(
  system: Kysely<DB>,
  followed: readonly FollowedChat[],
): Promise<(ChatState | undefined)[]> {
  const { rows } = await sql<{ place: number } & ChatState>`
    select asked.place, c.id as "conversationId", c.is_paused as "isPaused", c.paused_until as "pausedUntil",
      c.is_ended as "isEnded", ${failureOf(sql`c.workspace_id`)} as failure, live.reply_id as "replyId",
      (select coalesce(max(m.seq), 0) from messages m
        where m.workspace_id = c.workspace_id and m.conversation_id = c.id) as "lastSeq",
      (select count(*) from approvals a
        where a.workspace_id = c.workspace_id and a.conversation_id = c.id and a.status = 'pending') as "waitingCalls",
      (select coalesce(json_agg(json_build_object('at', piece.start_at, 'text', piece.text) order by piece.place), '[]')
        from (select p.place, p.start_at, p.text from live_replies p
          where p.workspace_id = c.workspace_id and p.conversation_id = c.id and p.reply_id = live.reply_id and p.place > 0
            and p.start_at >= case when p.reply_id = asked.reply_id then asked.start_at else 0 end
          order by p.place limit ${PIECES_AT_ONCE}) as piece) as pieces
    from unnest(${followed.map((each) => each.workspaceId)}::uuid[], ${followed.map((each) => each.connectionId)}::uuid[],
      ${followed.map((each) => each.visitor)}::text[], ${followed.map((each) => each.replyId)}::uuid[],
      ${followed.map((each) => each.offset)}::int[])
      with ordinality as asked (workspace_id, connection_id, visitor, reply_id, start_at, place)
    join channel_identities i on i.workspace_id = asked.workspace_id and i.connection_id = asked.connection_id
      and i.kind = 'visitor' and i.value = asked.visitor
    join lateral (select n.* from conversations n
      where n.workspace_id = i.workspace_id and n.end_user_id = i.end_user_id and n.connection_id = i.connection_id
        and n.deleted_at is null
      order by n.started_at desc, n.id desc limit 1) as c on true
    left join lateral (select l.reply_id from live_replies l
      where l.workspace_id = c.workspace_id and l.conversation_id = c.id order by l.reply_id desc limit 1) as live on true`.execute(
    system,
  );
  const found = new Map(rows.map(({ place, ...state }) => [place, state]));
  return followed.map((_each, index) => found.get(index + 1));
}
