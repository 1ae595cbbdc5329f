import { type Kysely, type Selectable, sql } from 'kysely';
import type { Approvals, DB, Turns } from '../../../generated/db.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import type { MessageRow } from '../conversations/messages.ts';
import { isDead } from './leases.ts';

/** How far a turn is, for a request that waits for it. */
export interface TurnProgress {
  status: Selectable<Turns>['status'];
  conversationId: string;
  /** Its process has died, and no other goes on with it yet. */
  isDead: boolean;
}

/** How far a turn is; undefined when there is none of this id. */
export async function findTurnProgress(
  db: Kysely<DB>,
  workspaceId: string,
  turnId: string,
): Promise<TurnProgress | undefined> {
  const { rows } = await sql<TurnProgress>`
    select t.status, t.conversation_id as "conversationId", exists (select from conversations
      where workspace_id = ${workspaceId} and id = t.conversation_id and turn_id = t.id and ${isDead}) as "isDead"
    from turns t where t.workspace_id = ${workspaceId} and t.id = ${turnId}`.execute(db);
  return rows[0];
}

/** What is stored of a turn that ended with a reply. The conversation and the calls that wait are as they are now. */
export interface StoredReply {
  turn: Selectable<Turns>;
  conversation: ConversationRow;
  /** In their order; at least one. */
  messages: MessageRow[];
  /** Calls of the agent of the conversation. */
  calls: { name: string; duration_ms: number | null; status: string }[];
  /** Why the last answer of its model ended. */
  finishReason: string | null;
  pending: Pick<Selectable<Approvals>, 'id' | 'tool_name' | 'input' | 'requested_at'>[];
}

/** The reply of a turn; undefined when it has none, or its conversation is deleted. */
export async function findStoredReply(
  db: Kysely<DB>,
  workspaceId: string,
  turnId: string,
): Promise<StoredReply | undefined> {
  const turn = await db
    .selectFrom('turns')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', turnId)
    .executeTakeFirst();
  if (!turn) return undefined;
  const conversation = await db
    .selectFrom('conversations')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', turn.conversation_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const messages = await db
    .selectFrom('messages')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', turn.conversation_id)
    .where('turn_id', '=', turnId)
    .where('role', '=', 'assistant')
    .orderBy('seq')
    .execute();
  if (!conversation || messages.length === 0) return undefined;
  const calls = await db
    .selectFrom('turn_steps')
    .select(['name', 'duration_ms', 'status'])
    .where('workspace_id', '=', workspaceId)
    .where('turn_id', '=', turnId)
    .where('kind', '=', 'tool')
    .where('depth', '=', 0)
    .where('status', '<>', 'waiting')
    .orderBy('seq')
    .execute();
  const answer = await db
    .selectFrom('turn_steps')
    .select('finish_reason')
    .where('workspace_id', '=', workspaceId)
    .where('turn_id', '=', turnId)
    .where('kind', '=', 'model')
    .where('depth', '=', 0)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const pending = await db
    .selectFrom('approvals')
    .select(['id', 'tool_name', 'input', 'requested_at'])
    .where('workspace_id', '=', workspaceId)
    .where('conversation_id', '=', turn.conversation_id)
    .where('status', '=', 'pending')
    .orderBy('requested_at')
    .orderBy('id')
    .execute();
  return { turn, conversation, messages, calls, finishReason: answer?.finish_reason ?? null, pending };
}
