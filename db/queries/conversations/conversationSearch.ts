import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { likeContains } from '../shared/like.ts';

/** A message that was found. */
export interface FoundMessage {
  conversation_id: string;
  role: 'user' | 'assistant';
  content: string;
  sent_at: Date;
}

/** The text of messages has no index, so only this many conversations are searched. */
const MAX_CONVERSATIONS = 500;

/** Messages that contain the text, in any case, newest first, of the conversations that were active last. */
export async function searchConversations(
  db: Kysely<DB>,
  workspaceId: string,
  text: string,
  limit: number,
): Promise<FoundMessage[]> {
  const { rows } = await sql<FoundMessage>`
    with latest as materialized (
      select id from conversations where workspace_id = ${workspaceId} and deleted_at is null
      order by last_message_at desc limit ${MAX_CONVERSATIONS}
    )
    select m.conversation_id, m.role, m.content, m.sent_at
    from latest join messages m on m.workspace_id = ${workspaceId} and m.conversation_id = latest.id
    where m.content ilike ${likeContains(text)}
    order by m.sent_at desc, m.seq desc
    limit ${limit}`.execute(db);
  return rows;
}
