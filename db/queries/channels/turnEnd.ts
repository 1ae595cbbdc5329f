import { type RawBuilder, sql } from 'kysely';
import type { StoredDeliveryContent } from '../../stored/delivery.ts';
import type { HeldTurn } from '../turns/leases.ts';

/** Something that goes out over a channel for a message of a reply. */
export interface NewDelivery {
  id: string;
  messageId: string;
  /** Among the deliveries of the message, from 0. */
  place: number;
  content: StoredDeliveryContent;
  dueAt: Date;
  /** How long the person sees that somebody writes, before it. */
  typingMs: number;
}

/**
 * SQL: common table expressions beside the end of a turn over a channel: its reply is on its way, and what the person had sent is answered.
 * `conversation` has a row when the end is stored.
 */
export function endingOverChannel(
  { workspaceId, conversationId, turnId }: HeldTurn,
  { now, isFollowUp }: { now: Date; isFollowUp: boolean },
  { connectionId, deliveries }: { connectionId: string; deliveries: readonly NewDelivery[] },
): RawBuilder<unknown> {
  const answered = sql`answered as (
      update inbound_messages set status = 'answered', settled_at = ${now}, error_code = null, error_message = null
      where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and status = 'taken' and turn_id = ${turnId}
        and exists (select from conversation)
    )`;
  if (deliveries.length === 0) return answered;
  const rows = deliveries.map(({ id, messageId, place, content, dueAt, typingMs }) => ({
    id,
    message_id: messageId,
    place,
    content,
    due_at: dueAt,
    typing_ms: typingMs,
  }));
  return sql`${answered}, delivery as (
      insert into deliveries (workspace_id, id, connection_id, conversation_id, message_id, place, content, due_at, typing_ms, is_follow_up,
        created_at)
      select conversation.workspace_id, d.id, ${connectionId}, conversation.id, d.message_id, d.place, d.content, d.due_at, d.typing_ms, ${isFollowUp}, ${now}
      from conversation, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as d (id uuid, message_id uuid, place int, content jsonb,
        due_at timestamptz, typing_ms int)
    )`;
}
