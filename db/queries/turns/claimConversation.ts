import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { StoredPausedRun } from '../../stored/pausedRun.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import { FOLLOW_UP_RETRY_MINUTES } from '../conversations/followUps.ts';
import { type HistoryRow, historyJson } from '../conversations/history.ts';
import type { MemoryFact } from '../conversations/memories.ts';
import { pausedAt } from '../conversations/pause.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { ClaimLost, holdsClaim } from '../workspaces/idempotencyKeys.ts';
import { quotaTaken } from '../workspaces/quota.ts';
import { lease } from './leases.ts';
import {
  companions,
  guards,
  type InboundAnswered,
  mayBegin,
  memoriesOf,
  type TurnStart,
  type UserMessage,
} from './turnStart.ts';

/** A turn of the conversation that waits for approvals. */
export interface WaitingTurn {
  id: string;
  paused: StoredPausedRun;
}

/** The result of an attempt to take a conversation. */
export interface Claim {
  /** False: the month's limit is reached. Then nothing was stored. */
  quotaTaken: boolean;
  /** Whether an operation was taken from the quota. */
  counted: boolean;
  /**
   * Undefined when what was known does not hold any more, or the payment is refused. Also when the conversation is held, paused, ended,
   * deleted or not this agent's; the caller looks which. Also when a turn of it ended at the same moment: then it can be taken at once.
   */
  conversation: ConversationRow | undefined;
  /** The earlier messages, oldest first. */
  history: HistoryRow[];
  /** Empty unless they were asked for. */
  memories: MemoryFact[];
  /** The turns that wait, the oldest first. */
  waiting: WaitingTurn[];
  /** Whether another turn holds the conversation. */
  held: boolean;
  /** Whether the process of that turn has died. Another one goes on with it. */
  isDead: boolean;
}

/** SQL condition: what a turn that no request asks for needs to find in order to run. */
function condition({ kind, now, workspaceId, conversationId, message }: TurnStart): RawBuilder<unknown> {
  switch (kind) {
    case 'message':
      return message?.inbound ? awaitsAnswer(workspaceId, conversationId, message.inbound) : sql``;
    case 'follow_up':
      return sql`and follow_up_at <= ${now}`;
    case 'continuation':
      return sql`and exists (select from turns t where t.workspace_id = ${workspaceId}
          and t.conversation_id = conversations.id and t.paused is not null
          and not exists (select from approvals a where a.workspace_id = ${workspaceId} and a.turn_id = t.id and a.status = 'pending'))`;
  }
}

/** SQL condition: no other turn has answered these. */
function awaitsAnswer(
  workspaceId: string,
  conversationId: string,
  messages: readonly InboundAnswered[],
): RawBuilder<unknown> {
  return sql`and (select count(*) from inbound_messages i where i.workspace_id = ${workspaceId} and i.conversation_id = ${conversationId}
        and i.status = 'taken' and i.message_id = any (${messages.map(({ id }) => id)}::uuid[])) = ${messages.length}`;
}

/** The stored messages that the turn answers: they are no history. */
function answeredIds(message: UserMessage | null): string[] {
  if (message?.inbound) return message.inbound.map(({ id }) => id);
  return message?.isStored ? [message.id] : [];
}

/** SQL condition: a turn can take the row of `conversations`. */
function isFree({ workspaceId, conversationId, agentId, now, payment }: TurnStart): RawBuilder<unknown> {
  return sql`workspace_id = ${workspaceId} and id = ${conversationId} and agent_id = ${agentId} and ${notDeletedByKey()}
        and not ${pausedAt(now)} and not is_ended and turn_id is null ${payment ? sql`` : sql`and client_id is null`}`;
}

/**
 * Takes a conversation that no other turn holds, stores the user's message in it, and reads the history, in one statement. A follow-up
 * takes it only when it is due, a continuation only when calls wait and all of them are decided. It reads no steps: the plan of a statement
 * that can read them locks every partition of theirs.
 *
 * `free` waits for the lock of the row and then reads its newest version. Everything else is read as it was when the statement began, so
 * the messages that another turn stored in between are missing. Therefore a conversation with more messages than `seen` is not taken.
 * Throws ClaimLost.
 */
export async function claimConversation(
  db: Kysely<DB>,
  start: TurnStart,
  { historyBytes }: { historyBytes: number },
): Promise<Claim> {
  const { workspaceId, conversationId, turnId, now, message, usesQuota, claim, known, payment } = start;
  // A turn that was made from memory does not wait: when it cannot begin at once, nothing is counted.
  const counts = known ? sql`exists (select from conversations where ${isFree(start)})` : sql`true`;
  const followUpAt = start.kind === 'follow_up' ? new Date(now.getTime() + FOLLOW_UP_RETRY_MINUTES * 60_000) : null;
  const subject = sql`subject as (
      select client_id, external_user_id from free join seen using (message_count)
    ), `;
  const looking = sql`seen as (
      select message_count, turn_id is not null as held, turn_expires_at < now() as is_dead from conversations
      where workspace_id = ${workspaceId} and id = ${conversationId}
    ), free as (
      select id, message_count, client_id, external_user_id from conversations
      where ${isFree(start)} ${condition(start)}
      for update
    ), ${payment ? subject : sql``}`;
  const { rows } = await sql<
    {
      quota_taken: boolean;
      counted: boolean;
      history: HistoryRow[] | null;
      memories: MemoryFact[] | null;
      waiting: WaitingTurn[] | null;
      held: boolean | null;
      is_dead: boolean | null;
    } & ConversationRow
  >`
    with ${guards(start, { looking, condition: counts })}conversation as (
      update conversations set turn_id = ${turnId}, turn_attempt = 1, turn_expires_at = ${lease}, follow_up_at = ${followUpAt}
        ${message && !message.isStored ? sql`, message_count = message_count + 1, last_message_at = greatest(last_message_at, ${now}), last_message_snippet = ${message.snippet}` : sql``}
      where workspace_id = ${workspaceId} and id = (select id from free join seen using (message_count)) and ${mayBegin(start)}
      returning *
    )${companions(start)}
    select ${usesQuota ? quotaTaken : sql.lit(true)} as quota_taken,
      ${usesQuota ? sql`exists (select from taken)` : sql.lit(false)} as counted,
      case when conversation.id is not null then ${historyJson(workspaceId, conversationId, historyBytes, answeredIds(message))} end as history,
      case when conversation.id is not null then (select json_agg(json_build_object('id', id, 'paused', paused) order by id) from turns
        where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and paused is not null) end as waiting,
      case when conversation.id is not null then ${memoriesOf(start)} end as memories, seen.held, seen.is_dead, conversation.*
    from (select 1) as one left join seen on true left join conversation on true`.execute(db);
  const row = rows[0];
  if (!row) throw new Error('A statement that returns one row returned none.');
  const { quota_taken, counted, history, memories, waiting, held, is_dead, ...conversation } = row;
  if (conversation.id === null && claim && !(await holdsClaim(db, claim))) throw new ClaimLost();
  return {
    quotaTaken: quota_taken,
    counted,
    conversation: conversation.id === null ? undefined : (conversation as ConversationRow),
    history: history ?? [],
    memories: memories ?? [],
    waiting: waiting ?? [],
    held: held === true,
    isDead: is_dead === true,
  };
}
