import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { holdingClaim, notingBegun } from '../workspaces/idempotencyKeys.ts';
import type { HeldTurn } from './leases.ts';
import { claimHeld, type TurnStart, type UserMessage } from './turnStart.ts';

/** Stores the message of a user whose turn never began, so that it is not lost. */
export async function storeUnanswered(
  db: Kysely<DB>,
  start: HeldTurn & Pick<TurnStart, 'now' | 'claim'> & { message: UserMessage },
): Promise<void> {
  const { workspaceId, conversationId, turnId, now, message, claim } = start;
  if (message.isStored) return;
  await sql`
    with ${claim ? sql`keyed as (${holdingClaim(claim)}), ` : sql``}conversation as (
      update conversations set message_count = message_count + 1, last_message_at = greatest(last_message_at, ${now}),
        last_message_snippet = ${message.snippet}, follow_up_at = null
      where workspace_id = ${workspaceId} and id = ${conversationId} and ${notDeletedByKey()} ${claim ? sql`and ${claimHeld}` : sql``}
      returning *
    )${claim ? sql`, begun as (${notingBegun(claim, { conversationId, messageId: message.id, turnId })} and exists (select from conversation))` : sql``}
    insert into messages (workspace_id, id, conversation_id, turn_id, role, content, model_text, attachments, cost_ops, sent_at)
    select workspace_id, ${message.id}, id, ${turnId}, 'user', ${message.content}, ${message.modelText},
      ${JSON.stringify(message.attachments)}, 0, last_message_at
    from conversation`.execute(db);
}
