import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import type { MemoryFact } from '../conversations/memories.ts';
import { payerOfNew } from '../credits/reserve.ts';
import { ClaimLost, holdsClaim } from '../workspaces/idempotencyKeys.ts';
import { lease } from './leases.ts';
import { companions, guards, mayBegin, memoriesOf, type TurnStart, type UserMessage } from './turnStart.ts';

/** The fields of a new conversation. */
export interface ConversationStart {
  externalUserId: string;
  isTest: boolean;
  metadata: Record<string, unknown>;
}

/**
 * Creates a conversation with the user's first message, held by the turn. One statement, so one transaction. Undefined when what was
 * known does not hold any more, or an operation is to be taken and there is none left, or the payment is refused; then nothing is stored.
 * Throws ClaimLost.
 */
export async function beginConversation(
  db: Kysely<DB>,
  start: TurnStart & { message: UserMessage },
  conversation: ConversationStart,
): Promise<{ conversation: ConversationRow; memories: MemoryFact[] } | undefined> {
  const { workspaceId, conversationId, agentId, turnId, now, message, claim, payment } = start;
  const looking = payment ? sql`subject as (${payerOfNew(payment)}), ` : sql``;
  const { rows } = await sql<ConversationRow & { memories: MemoryFact[] | null }>`
    with ${guards(start, { looking })}conversation as (
      insert into conversations (workspace_id, id, agent_id, external_user_id, is_test, metadata, message_count, started_at,
        last_message_at, last_message_snippet, turn_id, turn_expires_at${payment ? sql`, client_id` : sql``})
      select ${workspaceId}, ${conversationId}, ${agentId}, ${conversation.externalUserId}, ${conversation.isTest},
        ${JSON.stringify(conversation.metadata)}, 1, ${now}, ${now}, ${message.snippet}, ${turnId}, ${lease}
        ${payment ? sql`, client_id from subject` : sql``}
      where ${mayBegin(start)}
      returning *
    )${companions(start)}
    select conversation.*, ${memoriesOf(start)} as memories from conversation`.execute(db);
  const [row] = rows;
  if (row) {
    const { memories, ...begun } = row;
    return { conversation: begun, memories: memories ?? [] };
  }
  if (claim && !(await holdsClaim(db, claim))) throw new ClaimLost();
  return undefined;
}
