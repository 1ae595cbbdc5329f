import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { StoredAttachment } from '../../stored/attachment.ts';
import type { StoredTranscript } from '../../stored/transcript.ts';

/** An earlier message, as models read it. */
export interface HistoryRow {
  role: 'user' | 'assistant';
  content: string;
  /** Who wrote it in place of the agent; null for the agent and the user. */
  author: 'operator' | null;
  attachments: readonly StoredAttachment[];
  /** Its place in the conversation. */
  seq: number;
  /** Joins a user's message with the replies to it. */
  turn_id: string | null;
  /** On the first reply of a recent turn: what later turns are shown of it beside its messages. */
  transcript: StoredTranscript | null;
}

/** Older messages are not read, however short they are. */
export const MAX_HISTORY_MESSAGES = 2000;
/** The newest messages that are read with their tool calls. Which of these are shown is decided in prompt/shown.ts. */
const MESSAGES_WITH_TRANSCRIPT = 60;

/**
 * SQL value: the newest messages of a conversation as JSON of HistoryRow, oldest first, as far back as `maxBytes` of text reach;
 * null when there are none. The caller counts tokens; this limit only saves reading what cannot fit. `answered` are left out: the
 * messages that the turn answers, when they were stored before. With `before`, so are all messages from this one on (messages.seq).
 */
export function historyJson(
  workspaceId: string,
  conversationId: string,
  maxBytes: number,
  answered: readonly string[] = [],
  before: number | null = null,
): RawBuilder<HistoryRow[] | null> {
  return sql`(
    select json_agg(json_build_object('role', role, 'content', content, 'author', author, 'attachments', attachments, 'seq', seq, 'turn_id', turn_id,
      'transcript', case when role = 'assistant' and place <= ${sql.lit(MESSAGES_WITH_TRANSCRIPT)} and first_of_turn then (
        select transcript from turns where turns.workspace_id = ${workspaceId} and turns.id = turn_id) end) order by seq)
    from (
      select role, content, author, attachments, turn_id, seq, sum(octet_length(content)) over newest_first as bytes,
        row_number() over newest_first as place, row_number() over (partition by turn_id, role order by seq) = 1 as first_of_turn
      from (
        select role, coalesce(model_text, content) as content, author, attachments, turn_id, seq from messages
        where workspace_id = ${workspaceId} and conversation_id = ${conversationId} ${answered.length === 0 ? sql`` : sql`and id <> all (${answered}::uuid[])`} ${before === null ? sql`` : sql`and seq < ${before}`}
        order by seq desc limit ${sql.lit(MAX_HISTORY_MESSAGES)}
      ) newest
      window newest_first as (order by seq desc)
    ) sized
    where bytes <= ${maxBytes})`;
}

/** As `historyJson`, for a turn that holds its conversation already. */
export async function selectHistory(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  { maxBytes, answered, before }: { maxBytes: number; answered: readonly string[]; before: number | null },
): Promise<HistoryRow[]> {
  const { rows } = await sql<{ history: HistoryRow[] | null }>`
    select ${historyJson(workspaceId, conversationId, maxBytes, answered, before)} as history`.execute(db);
  return rows[0]?.history ?? [];
}
