import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { StoredAttachment } from '../../stored/attachment.ts';
import type { StoredPausedRun } from '../../stored/pausedRun.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import { type HistoryRow, historyJson } from '../conversations/history.ts';
import { type MemoryFact, memoryFactsSql } from '../conversations/memories.ts';
import { pausedAt } from '../conversations/pause.ts';
import { type Payment, payerOfNew } from '../credits/reserve.ts';
import { releasing } from '../credits/settle.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { ClaimLost, holdingClaim, holdsClaim, type KeyClaim, notingBegun } from '../workspaces/idempotencyKeys.ts';
import { quotaTaken } from '../workspaces/quota.ts';
import type { KnownWorkspace } from './knownWorkspace.ts';
import { claimHeld, companions, guards, mayBegin } from './turnStart.ts';

/** A turn may hold its conversation for this time without a renewal. When its replica dies, others wait no longer than that. */
export const LEASE_SECONDS = 20;
/** A follow-up whose turn did not end is due again after this time. */
export const FOLLOW_UP_RETRY_MINUTES = 15;

/** A turn that holds a conversation. */
export interface HeldTurn {
  readonly workspaceId: string;
  readonly conversationId: string;
  readonly turnId: string;
}

/** What the user wrote, as it is stored. */
export interface UserMessage {
  id: string;
  content: string;
  /** What models get in place of the content; null = the content. */
  modelText: string | null;
  attachments: StoredAttachment[];
  snippet: string;
  /** Whether an earlier turn has stored it, which failed or whose process died: it is answered then, and not stored again. */
  isStored: boolean;
  /** Of a person on a channel: all messages that the turn answers, this one among them. They are stored. */
  inbound?: readonly InboundAnswered[];
}

/** A message of a person on a channel, as it is stored with the turn that answers it. */
export interface InboundAnswered extends Pick<UserMessage, 'id' | 'modelText' | 'attachments'> {}

/** A turn that begins, and the message that it answers. */
export interface TurnStart extends HeldTurn {
  agentId: string;
  versionNumber: number;
  kind: 'message' | 'follow_up' | 'continuation';
  now: Date;
  /** Null for turns that no message of the user begins. */
  message: UserMessage | null;
  /** The slash command that the message invokes. */
  commandId: string | null;
  /** Also take one from the workspace's quota of the month. */
  usesQuota: boolean;
  /** Of the request's Idempotency-Key. Nothing is stored when another request has taken it. */
  claim: KeyClaim | null;
  /** What the turn was made from, when nothing was read for it. Nothing is stored when it does not hold any more. */
  known: KnownWorkspace | null;
  /** Whether the facts about the end user are read along with it. */
  recalls: boolean;
  /** Null: nobody pays for the conversation and no budget holds for it. One of a client is not taken then. */
  payment: Payment | null;
}

/** The fields of a new conversation. */
export interface ConversationStart {
  externalUserId: string;
  isTest: boolean;
  metadata: Record<string, unknown>;
}

const lease = sql`now() + make_interval(secs => ${sql.lit(LEASE_SECONDS)})`;

/** SQL value: the facts that the agent knows of the end user of the row `conversation`, when the turn needs them. */
function memoriesOf({ workspaceId, agentId, recalls }: TurnStart): RawBuilder<MemoryFact[] | null> {
  if (!recalls) return sql`null::json`;
  return memoryFactsSql(sql`${workspaceId}`, sql`${agentId}`, sql.ref('conversation.external_user_id'));
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
   * Undefined when what was known does not hold any more, or the payment is refused. Also when the conversation is held, paused, ended, deleted or not this agent's; the caller looks which. Also when a turn of it
   * ended at the same moment: then it can be taken at once.
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
}

/** SQL value: the usage of a turn's steps, as JSON. A turn stores its usage when it ends; for one whose process died, the steps are the only source. */
function spentOf(workspaceId: string, turnId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select jsonb_build_object('input', coalesce(sum(s.input_tokens), 0), 'output', coalesce(sum(s.output_tokens), 0),
      'cost', coalesce(sum(s.cost_usd), 0)) from turn_steps s where s.workspace_id = ${workspaceId} and s.turn_id = ${turnId})`;
}

/** SQL assignments: adds the usage to a row's own sums. */
function addingSpent(spent: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`input_tokens = input_tokens + coalesce((${spent} ->> 'input')::bigint, 0),
        output_tokens = output_tokens + coalesce((${spent} ->> 'output')::bigint, 0),
        cost_usd = cost_usd + coalesce((${spent} ->> 'cost')::numeric, 0)`;
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
 * takes it only when it is due, a continuation only when calls wait and all of them are decided. A turn whose process died while it held
 * the conversation is marked as interrupted first.
 *
 * `free` waits for the lock of the row and then reads its newest version. Everything else is read as it was when the statement began, so
 * the messages that another turn stored in between are missing. Therefore a conversation with more messages than `seen` is not taken.
 * Throws ClaimLost.
 */
export async function claimConversation(
  db: Kysely<DB>,
  start: TurnStart,
  limits: { historyBytes: number },
): Promise<Claim> {
  const { expired, ...claim } = await claimFree(db, start, limits);
  if (claim.conversation || !claim.quotaTaken || !expired) return claim;
  await interruptTurn(db, start.workspaceId, start.conversationId, start.now);
  const uncounted = { ...start, usesQuota: start.usesQuota && !claim.counted };
  const { expired: again, ...second } = await claimFree(db, uncounted, limits);
  return { ...second, counted: claim.counted || second.counted };
}

/** Takes a conversation that is free. It reads no steps: the plan of a statement that can read them locks every partition of theirs. */
async function claimFree(
  db: Kysely<DB>,
  start: TurnStart,
  { historyBytes }: { historyBytes: number },
): Promise<Claim & { expired: boolean }> {
  const { workspaceId, conversationId, turnId, now, message, usesQuota, claim, known, payment } = start;
  // A turn that was made from memory does not wait: when it cannot begin at once, nothing is counted.
  const counts = known ? sql`exists (select from conversations where ${isFree(start)})` : sql`true`;
  const followUpAt = start.kind === 'follow_up' ? new Date(now.getTime() + FOLLOW_UP_RETRY_MINUTES * 60_000) : null;
  const subject = sql`subject as (
      select client_id, external_user_id from free join seen using (message_count)
    ), `;
  const looking = sql`seen as (
      select message_count, turn_expires_at >= now() as held, turn_expires_at < now() as expired from conversations
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
      expired: boolean | null;
    } & ConversationRow
  >`
    with ${guards(start, { looking, condition: counts })}conversation as (
      update conversations set turn_id = ${turnId}, turn_expires_at = ${lease}, follow_up_at = ${followUpAt}
        ${message && !message.isStored ? sql`, message_count = message_count + 1, last_message_at = greatest(last_message_at, ${now}), last_message_snippet = ${message.snippet}` : sql``}
      where workspace_id = ${workspaceId} and id = (select id from free join seen using (message_count)) and ${mayBegin(start)}
      returning *
    )${companions(start)}
    select ${usesQuota ? quotaTaken : sql.lit(true)} as quota_taken,
      ${usesQuota ? sql`exists (select from taken)` : sql.lit(false)} as counted,
      case when conversation.id is not null then ${historyJson(workspaceId, conversationId, historyBytes, answeredIds(message))} end as history,
      case when conversation.id is not null then (select json_agg(json_build_object('id', id, 'paused', paused) order by id) from turns
        where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and paused is not null) end as waiting,
      case when conversation.id is not null then ${memoriesOf(start)} end as memories, seen.held, seen.expired, conversation.*
    from (select 1) as one left join seen on true left join conversation on true`.execute(db);
  const row = rows[0];
  if (!row) throw new Error('A statement that returns one row returned none.');
  const { quota_taken, counted, history, memories, waiting, held, expired, ...conversation } = row;
  if (conversation.id === null && claim && !(await holdsClaim(db, claim))) throw new ClaimLost();
  return {
    quotaTaken: quota_taken,
    counted,
    conversation: conversation.id === null ? undefined : (conversation as ConversationRow),
    history: history ?? [],
    memories: memories ?? [],
    waiting: waiting ?? [],
    held: held === true,
    expired: expired === true,
  };
}

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

/** Renews the leases of running turns of all workspaces. Returns the ids of the turns that still hold their conversation. */
export async function renewLeases(system: Kysely<DB>, turns: readonly HeldTurn[]): Promise<Set<string>> {
  const { rows } = await sql<{ turn_id: string }>`
    update conversations set turn_expires_at = ${lease}
    from unnest(${turns.map((turn) => turn.workspaceId)}::uuid[], ${turns.map((turn) => turn.conversationId)}::uuid[],
      ${turns.map((turn) => turn.turnId)}::uuid[]) as held (workspace_id, conversation_id, turn_id)
    where conversations.workspace_id = held.workspace_id and conversations.id = held.conversation_id
      and conversations.turn_id = held.turn_id
    returning conversations.turn_id`.execute(system);
  return new Set(rows.map(({ turn_id }) => turn_id));
}

/**
 * Marks turns of all workspaces whose lease has expired as interrupted, and frees their conversations: their process died. At most
 * `limit` at a time; the next call finds the rest.
 */
export async function markInterrupted(system: Kysely<DB>, now: Date, limit: number): Promise<void> {
  const { rows } = await sql<{ workspace_id: string; id: string }>`
    select workspace_id, id from conversations where turn_id is not null and turn_expires_at < now()
    order by turn_expires_at limit ${limit}`.execute(system);
  for (const { workspace_id, id } of rows) await interruptTurn(system, workspace_id, id, now);
}

/** Marks the turn that holds the conversation as interrupted if its lease has expired, and frees the conversation. */
async function interruptTurn(db: Kysely<DB>, workspaceId: string, conversationId: string, now: Date): Promise<void> {
  await sql`
    with held as (
      select id, turn_id from conversations
      where workspace_id = ${workspaceId} and id = ${conversationId} and turn_id is not null and turn_expires_at < now()
      for update
    ), died as (
      select held.id as conversation_id, t.id as turn_id, coalesce(${spentOf(workspaceId, sql`t.id`)}, '{}') as spent
      from held left join turns t on t.workspace_id = ${workspaceId} and t.id = held.turn_id and t.status = 'running'
    ), freed as (
      update conversations set turn_id = null, turn_expires_at = null, ${addingSpent(sql`died.spent`)}
      from died where conversations.workspace_id = ${workspaceId} and conversations.id = died.conversation_id
    ), ${releasing(
      {
        workspaceId,
        turnId: sql`(select turn_id from held)`,
        costUsd: sql`coalesce((select (spent ->> 'cost')::numeric from died), 0)`,
        costOps: 0,
        now,
      },
      sql`true`,
    )}
    update turns set status = 'interrupted', ended_at = greatest(started_at, ${now}), ${addingSpent(sql`died.spent`)}
    from died where turns.workspace_id = ${workspaceId} and turns.id = died.turn_id`.execute(db);
}

/** Moves a follow-up that cannot be sent now, or cancels it. One that was planned again meanwhile stays as it is. */
export async function postponeFollowUp(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  { due, until }: { due: Date; until: Date | null },
): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ follow_up_at: until })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', conversationId)
    .where('follow_up_at', '=', due)
    .execute();
}
