import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** The person on a connection whose conversations are meant. */
export interface ConversationOwner {
  workspaceId: string;
  connectionId: string;
  endUserId: string;
}

/** An open conversation of a person, and whether a turn holds it. */
interface OpenConversation {
  id: string;
  is_held: boolean;
}

/**
 * Locks the open conversations of a person on a connection. The one that goes on is the first: that in which a turn runs, or else the one
 * with the latest message.
 */
export async function lockOpenConversations(
  trx: Transaction<DB>,
  { workspaceId, connectionId, endUserId }: ConversationOwner,
): Promise<OpenConversation[]> {
  const { rows } = await sql<OpenConversation & { last_message_at: Date }>`
    select id, last_message_at, turn_id is not null as is_held from conversations
    where workspace_id = ${workspaceId} and end_user_id = ${endUserId} and connection_id = ${connectionId}
      and not is_ended and num_nulls(deleted_at) = 1
    order by id for no key update`.execute(trx);
  return rows.sort(
    (a, b) =>
      Number(b.is_held) - Number(a.is_held) ||
      b.last_message_at.getTime() - a.last_message_at.getTime() ||
      (a.id < b.id ? -1 : 1),
  );
}

/**
 * Moves messages, turns, waiting calls, deliveries and stored values of the conversation `from` to `into`, and deletes it for the API.
 * Both are locked, and no turn holds `from`. What is paused stays paused, by the longer of the pauses.
 */
export async function joinConversations(
  trx: Transaction<DB>,
  { workspaceId, connectionId, endUserId }: ConversationOwner,
  { into, from }: { into: string; from: string },
  now: Date,
): Promise<void> {
  const moved = sql`conversation_id = ${into} where workspace_id = ${workspaceId} and conversation_id = ${from}`;
  await sql`
    update deliveries set conversation_id = ${into} where workspace_id = ${workspaceId} and message_id in (
      select id from messages where workspace_id = ${workspaceId} and conversation_id = ${from})`.execute(trx);
  await sql`update messages set ${moved}`.execute(trx);
  await sql`update turns set ${moved}`.execute(trx);
  await sql`update approvals set ${moved}`.execute(trx);
  await sql`
    update inbound_messages set ${moved} and connection_id = ${connectionId} and end_user_id = ${endUserId}
      and status in ('received', 'taken')`.execute(trx);
  await sql`
    update tool_variables set ${moved} and not exists (select from tool_variables kept where kept.workspace_id = ${workspaceId}
      and kept.conversation_id = ${into} and kept.tool_id = tool_variables.tool_id)`.execute(trx);
  const until = sql`case when (kept.is_paused and kept.paused_until is null) or (gone.is_paused and gone.paused_until is null) then null
      else greatest(kept.paused_until, gone.paused_until) end`;
  const isLonger = sql`gone.is_paused and (not kept.is_paused or (kept.paused_until is not null
      and (gone.paused_until is null or gone.paused_until > kept.paused_until)))`;
  await sql`
    with gone as (
      update conversations set deleted_at = ${now}, follow_up_at = null where workspace_id = ${workspaceId} and id = ${from}
      returning *
    )
    update conversations kept set message_count = kept.message_count + gone.message_count,
      input_tokens = kept.input_tokens + gone.input_tokens, output_tokens = kept.output_tokens + gone.output_tokens,
      cost_usd = kept.cost_usd + gone.cost_usd, started_at = least(kept.started_at, gone.started_at),
      last_inbound_at = greatest(kept.last_inbound_at, gone.last_inbound_at),
      follow_ups_sent = greatest(kept.follow_ups_sent, gone.follow_ups_sent), is_paused = kept.is_paused or gone.is_paused,
      paused_by = case when ${isLonger} then gone.paused_by else kept.paused_by end, paused_until = ${until}
    from gone where kept.workspace_id = ${workspaceId} and kept.id = ${into}`.execute(trx);
}
