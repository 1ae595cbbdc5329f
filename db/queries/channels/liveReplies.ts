import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** A piece of the text of a reply that is being written. */
export interface LiveReplyPiece {
  conversation_id: string;
  /** One attempt to answer; a later one has a greater id. */
  reply_id: string;
  /** 0 is the empty piece with which a reply begins. */
  place: number;
  /** Where the piece begins in the reply, in UTF-16 code units. */
  start_at: number;
  text: string;
}

/** Adds a piece of a reply. */
export async function insertLiveReplyPiece(
  db: Kysely<DB>,
  workspaceId: string,
  piece: LiveReplyPiece,
  now: Date,
): Promise<void> {
  await db
    .insertInto('live_replies')
    .values({ workspace_id: workspaceId, ...piece, written_at: now })
    .execute();
}

/** Removes the pieces of a reply that has ended. */
export async function removeLiveReply(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  replyId: string,
): Promise<void> {
  await db
    .deleteFrom('live_replies')
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId)
    .where('reply_id', '=', replyId)
    .execute();
}

/** Removes the pieces of all replies in a conversation: the turn that wrote them goes on in another process, or ends there. */
export async function removeLiveReplies(db: Kysely<DB>, workspaceId: string, conversationId: string): Promise<void> {
  await db
    .deleteFrom('live_replies')
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', conversationId)
    .execute();
}

/** Removes what was written before a time, of all workspaces: the processes that wrote it are dead. */
export async function removeOldLiveReplies(system: Kysely<DB>, before: Date): Promise<void> {
  await sql`delete from live_replies where written_at < ${before}`.execute(system);
}
