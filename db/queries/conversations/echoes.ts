import { type Kysely, sql } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { type Pause, pausing } from './pause.ts';

/** A message that a person wrote in place of the agent. */
export interface OperatorMessage {
  content: string;
  snippet: string;
}

/**
 * Stores a message that a person wrote in place of the agent, and pauses the conversation: one statement. Returns the message's id;
 * undefined when there is no such conversation.
 */
export async function insertOperatorMessage(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  { content, snippet }: OperatorMessage,
  pause: Pause,
): Promise<string | undefined> {
  const id = newId();
  const { rows } = await sql<{ id: string }>`
    with conversation as (
      update conversations set ${pausing(pause)}, message_count = message_count + 1,
        last_message_at = greatest(last_message_at, ${pause.now}), last_message_snippet = ${snippet}, follow_up_at = null
      where workspace_id = ${workspaceId} and id = ${conversationId} and ${notDeletedByKey()}
      returning workspace_id, id, last_message_at
    )
    insert into messages (workspace_id, id, conversation_id, role, author, content, cost_ops, sent_at)
    select workspace_id, ${id}, id, 'assistant', 'operator', ${content}, 0, last_message_at from conversation
    returning id`.execute(db);
  return rows[0]?.id;
}
