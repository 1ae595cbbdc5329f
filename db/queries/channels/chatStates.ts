import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** Pieces of live text that one look takes for one stream; the next look takes the rest. */
const PIECES_AT_ONCE = 16;

/** A conversation that a stream follows, and how much of its live text the stream has. */
export interface FollowedChat {
  workspaceId: string;
  conversationId: string;
  /** The attempt that the stream has text of; null = none. */
  replyId: string | null;
  /** Code units of it. */
  offset: number;
}

/** A conversation as the streams of the chat page need it. */
export interface ChatState {
  /** The newest message; 0 = none. */
  lastSeq: number;
  isPaused: boolean;
  pausedBy: string | null;
  pausedUntil: Date | null;
  isEnded: boolean;
  /** Calls that wait for a decision. */
  waitingCalls: number;
  /** The reply that is being written; null = none. */
  replyId: string | null;
  /** Its pieces from the offset, or all when the attempt is another one. */
  pieces: { at: number; text: string }[];
}

/** The conversations, in the order in which they were asked for; undefined for one that does not exist any more. */
export async function findChatStates(
  system: Kysely<DB>,
  followed: readonly FollowedChat[],
): Promise<(ChatState | undefined)[]> {
  const { rows } = await sql<{ place: number } & ChatState>`
    select asked.place, c.is_paused as "isPaused", c.paused_by as "pausedBy", c.paused_until as "pausedUntil",
      c.is_ended as "isEnded", live.reply_id as "replyId",
      (select coalesce(max(m.seq), 0) from messages m
        where m.workspace_id = c.workspace_id and m.conversation_id = c.id) as "lastSeq",
      (select count(*) from approvals a
        where a.workspace_id = c.workspace_id and a.conversation_id = c.id and a.status = 'pending') as "waitingCalls",
      (select coalesce(json_agg(json_build_object('at', piece.start_at, 'text', piece.text) order by piece.place), '[]')
        from (select p.place, p.start_at, p.text from live_replies p
          where p.workspace_id = c.workspace_id and p.conversation_id = c.id and p.reply_id = live.reply_id and p.place > 0
            and p.start_at >= case when p.reply_id = asked.reply_id then asked.start_at else 0 end
          order by p.place limit ${PIECES_AT_ONCE}) as piece) as pieces
    from unnest(${followed.map((each) => each.workspaceId)}::uuid[], ${followed.map((each) => each.conversationId)}::uuid[],
      ${followed.map((each) => each.replyId)}::uuid[], ${followed.map((each) => each.offset)}::int[])
      with ordinality as asked (workspace_id, conversation_id, reply_id, start_at, place)
    join conversations c on c.workspace_id = asked.workspace_id and c.id = asked.conversation_id and c.deleted_at is null
    left join lateral (select l.reply_id from live_replies l
      where l.workspace_id = c.workspace_id and l.conversation_id = c.id order by l.reply_id desc limit 1) as live on true`.execute(
    system,
  );
  const found = new Map(rows.map(({ place, ...state }) => [place, state]));
  return followed.map((_each, index) => found.get(index + 1));
}
