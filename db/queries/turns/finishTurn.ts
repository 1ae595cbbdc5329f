import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { PausedRunFormat3 } from '../../stored/pausedRun.ts';
import type { TranscriptFormat3 } from '../../stored/transcript.ts';
import { completingExecution } from '../automations/completeExecution.ts';
import { endingOverChannel, type NewDelivery } from '../channels/turnEnd.ts';
import type { ConversationRow } from '../conversations/conversations.ts';
import type { MessageRow } from '../conversations/messages.ts';
import { type Pause, pausedAt, pausing } from '../conversations/pause.ts';
import { burnedFirst, burning, covers, releasing, settling } from '../credits/settle.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { type KeyClaim, releasingClaim } from '../workspaces/idempotencyKeys.ts';
import { returningToQuota } from '../workspaces/quota.ts';
import { type ApprovalRequest, insertingApprovals } from './approvals.ts';
import { type HeldTurn, heldBy } from './leases.ts';
import { withStepsPartition } from './stepPartitions.ts';
import { insertingSteps, type StepRow } from './turnSteps.ts';

/** Tokens, and cost in USD. */
export interface TurnUsage {
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** One message of a reply. */
export interface ReplyMessage {
  id: string;
  content: string;
}

/** Everything that is stored when a turn ends with a reply. */
export interface TurnEnd {
  /** In their order; at least one. */
  replies: readonly ReplyMessage[];
  /** Of the last reply. */
  snippet: string;
  ui: Record<string, unknown> | null;
  audioKey: string | null;
  /** Size of the recording under `audioKey`. */
  audioBytes: number | null;
  model: string;
  provider: string;
  /** Of the turn; the last reply carries it. */
  usage: TurnUsage;
  costOps: number;
  /** Steps that are not stored yet. */
  steps: readonly StepRow[];
  transcript: TranscriptFormat3 | null;
  /** Not null: the turn waits for these approvals, and continues from `state`. */
  paused: { state: PausedRunFormat3; approvals: readonly ApprovalRequest[] } | null;
  /**
   * The earlier turns that wait no longer, since this one continued one of them. Of the approvals that they waited for, those in `waiting`
   * are this turn's from now on, and those in `dropped` can no longer be decided.
   */
  resumed: { turnIds: readonly string[]; waiting: readonly string[]; dropped: readonly string[] } | null;
  followUpAt: Date | null;
  /** Of a conversation over a channel: what goes out, and that the messages which the turn answers are answered; null for the API. */
  channel: ChannelEnd | null;
  /** Whether an execution of an automation began the conversation. It is completed with this turn, unless the turn waits. */
  isOfAutomation: boolean;
  /** Not null: the agent handed the conversation over to a person. */
  pause: Pause | null;
  /** Whether this turn is itself a follow-up. */
  isFollowUp: boolean;
  /** Whether the turn may have reserved something: it began with a payment. */
  isPaid: boolean;
  now: Date;
}

/** What is stored with the end of a turn over a channel. */
export interface ChannelEnd {
  connectionId: string;
  /** In the order in which they are sent. */
  deliveries: readonly NewDelivery[];
  /** Not null: nothing is stored unless the conversation has so many messages, which are those that the turn knows. */
  messageCount: number | null;
}

const USAGE_COLUMNS = ['input_tokens', 'output_tokens', 'cost_usd', 'cost_ops'] as const;

/**
 * Stores the replies with their usage and the last steps, counts them to the conversation and frees it: one statement, so all or
 * nothing. Undefined when the turn no longer holds the conversation, it is deleted, it has another number of messages, or a person has
 * answered in it meanwhile; then nothing is stored.
 */
export async function finishTurn(db: Kysely<DB>, turn: HeldTurn, end: TurnEnd): Promise<FinishedTurn | undefined> {
  const finished = await finishOnce(db, turn, end, { isCovered: end.isPaid });
  // A renewal may have put new lots in place of those that the statement saw: the next one sees them. If there are none, the reply counts all the same.
  return finished ?? (end.isPaid ? finishOnce(db, turn, end, { isCovered: false }) : undefined);
}

/** What is stored of a turn that has ended. */
export interface FinishedTurn {
  conversation: ConversationRow;
  messages: MessageRow[];
}

/** As `finishTurn`. With `isCovered` nothing is stored either unless the client's lots cover what the turn costs. */
async function finishOnce(
  db: Kysely<DB>,
  turn: HeldTurn,
  end: TurnEnd,
  { isCovered }: { isCovered: boolean },
): Promise<FinishedTurn | undefined> {
  const { workspaceId, conversationId, turnId } = turn;
  const { usage, now, paused, resumed } = end;
  const last = end.replies.length - 1;
  const spent = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_usd: usage.costUsd,
    cost_ops: end.costOps,
  };
  const nothing = Object.fromEntries(USAGE_COLUMNS.map((column) => [column, 0]));
  const messages = end.replies.map(({ id, content }, place) => ({
    id,
    content,
    ...(place === last ? { ...spent, ui: end.ui, audio_key: end.audioKey, audio_bytes: end.audioBytes } : nothing),
  }));
  const answered = {
    workspaceId,
    conversationId,
    turnId,
    costUsd: usage.costUsd,
    costOps: end.costOps,
    messageId: end.replies[last]?.id ?? '',
    now,
  };
  const statement = sql<ConversationRow>`
    with ${end.isPaid ? burning(answered) : sql``}conversation as (
      update conversations set turn_id = null, turn_expires_at = null, message_count = message_count + ${end.replies.length}::int,
        last_message_at = greatest(last_message_at, ${now}), last_message_snippet = ${end.snippet},
        input_tokens = input_tokens + ${usage.inputTokens}, output_tokens = output_tokens + ${usage.outputTokens},
        cost_usd = cost_usd + ${usage.costUsd}, follow_up_at = ${end.followUpAt},
        follow_ups_sent = follow_ups_sent + ${end.isFollowUp ? 1 : 0}::int ${alsoPausing(end.pause)}
      where ${heldBy(turn)} and ${notDeletedByKey()}
        ${end.channel && end.channel.messageCount !== null ? sql`and message_count = ${end.channel.messageCount}` : sql``}
        and not (${pausedAt(now)} and paused_by is not distinct from 'person') ${end.isPaid ? sql`and ${burnedFirst}` : sql``} ${isCovered ? sql`and ${covers(end.costOps)}` : sql``}
      returning *
    ), turn as (
      update turns set status = ${paused ? 'waiting' : 'done'}, ended_at = greatest(started_at, ${now}),
        request = null, transcript = ${end.transcript && JSON.stringify(end.transcript)}::jsonb, paused = ${paused && JSON.stringify(paused.state)}::jsonb,
        input_tokens = ${usage.inputTokens}, output_tokens = ${usage.outputTokens}, cost_usd = ${usage.costUsd}
      where workspace_id = ${workspaceId} and id = ${turnId} and exists (select from conversation)
    ), message as (
      insert into messages (workspace_id, id, conversation_id, turn_id, role, content, model, provider, input_tokens, output_tokens,
        cost_usd, cost_ops, ui, audio_key, audio_bytes, sent_at)
      select workspace_id, reply.id, conversation.id, ${turnId}, 'assistant', reply.content, ${end.model}, ${end.provider},
        reply.input_tokens, reply.output_tokens, reply.cost_usd, reply.cost_ops, reply.ui, reply.audio_key, reply.audio_bytes, last_message_at
      from conversation, rows from (jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as (id uuid, content text, input_tokens int,
        output_tokens int, cost_usd numeric, cost_ops int, ui jsonb, audio_key text, audio_bytes bigint)) with ordinality as reply
      order by reply.ordinality
    )
    ${end.steps.length > 0 ? sql`, step as (${insertingSteps(workspaceId, turnId, end.steps)} where exists (select from conversation))` : sql``}
    ${paused && paused.approvals.length > 0 ? sql`, approval as (${insertingApprovals(workspaceId, turn, paused.approvals, now)} where exists (select from conversation))` : sql``}
    ${
      resumed
        ? sql`, resumed as (
      update turns set status = 'done', paused = null
      where workspace_id = ${workspaceId} and id = any (${resumed.turnIds}::uuid[]) and status = 'waiting' and exists (select from conversation)
    ), withdrawn as (
      update approvals set status = 'rejected', decided_at = ${now}, decided_by = 'message'
      where workspace_id = ${workspaceId} and id = any (${resumed.dropped}::uuid[]) and status = 'pending'
        and exists (select from conversation)
    ), kept as (
      update approvals set turn_id = ${turnId}
      where workspace_id = ${workspaceId} and id = any (${resumed.waiting}::uuid[]) and exists (select from conversation)
    )`
        : sql``
    }
    ${end.channel ? sql`, ${endingOverChannel(turn, end, end.channel)}` : sql``}
    ${end.isOfAutomation && !paused ? sql`, ${completingExecution(workspaceId, conversationId, now)}` : sql``}
    ${end.isPaid ? settling(answered) : sql``}
    select * from conversation`;
  const { rows } = await withStepsPartition(db, turnId, () => statement.execute(db));
  const conversation = rows[0];
  if (!conversation) return undefined;
  const common = {
    workspace_id: workspaceId,
    conversation_id: conversationId,
    turn_id: turnId,
    role: 'assistant' as const,
    model: end.model,
    provider: end.provider,
    model_text: null,
    sent_at: conversation.last_message_at,
  };
  return {
    conversation,
    messages: end.replies.map((reply, place) => ({
      ...common,
      ...reply,
      input_tokens: place === last ? usage.inputTokens : 0,
      output_tokens: place === last ? usage.outputTokens : 0,
      cost_usd: place === last ? usage.costUsd : 0,
      cost_ops: place === last ? end.costOps : 0,
      ui: place === last ? end.ui : null,
      audio_key: place === last ? end.audioKey : null,
    })),
  };
}

/** SQL assignments: the pause of a conversation that its agent handed over. */
function alsoPausing(pause: Pause | null): RawBuilder<unknown> {
  return pause ? sql`, ${pausing(pause)}` : sql``;
}

/** How a turn failed. */
export interface TurnFailure {
  code: string;
  message: string;
  usage: TurnUsage;
  /** Steps that are not stored yet. */
  steps: readonly StepRow[];
  now: Date;
  /** Not null: the agent handed the conversation over to a person before it failed. */
  pause: Pause | null;
  /** The claim on the request's Idempotency-Key, when a retry is to begin again. */
  released?: KeyClaim | undefined;
  /** As in TurnEnd. */
  isPaid: boolean;
  /** When the turn took one from the quota of the month, which comes back; undefined when it took none. */
  countedAt: Date | undefined;
}

/**
 * SQL: the statement that ends a turn without a reply, and then gives back what the turn took from the quota at `countedAt`. Only the process that
 * ends the turn does so. `released`: it comes after `releasing`, as whoever takes from the quota has the account locked before it.
 */
export function endingUncounted(
  ending: RawBuilder<unknown>,
  { workspaceId, countedAt, released }: { workspaceId: string; countedAt: Date | undefined; released: boolean },
): RawBuilder<unknown> {
  if (!countedAt) return ending;
  const afterwards = released
    ? sql` and (select count(*) from released) + (select count(*) from budgeted) >= 0`
    : sql``;
  return sql`, ended as (${ending} returning id)
    ${returningToQuota(workspaceId, countedAt, sql`exists (select from ended)${afterwards}`)}`;
}

/**
 * Frees the conversation of a turn that failed, and stores the turn's steps and usage. The user's message stays. With `released`, the
 * request's Idempotency-Key is free again. Of a turn that another process has taken over, nothing is stored.
 */
export async function failTurn(db: Kysely<DB>, turn: HeldTurn, failure: TurnFailure): Promise<void> {
  const { workspaceId, conversationId, turnId } = turn;
  const { code, message, usage, steps, now, pause, released, isPaid, countedAt } = failure;
  const ended = { workspaceId, turnId: sql`${turnId}`, costUsd: sql`${usage.costUsd}::float8`, costOps: 0, now };
  // It has the conversation locked before the account, as everywhere. A turn that holds nothing any more is nobody else's.
  const isOurs = sql`(exists (select from conversation) or not exists (select from conversations
        where workspace_id = ${workspaceId} and id = ${conversationId} and turn_id = ${turnId}))`;
  const ending = sql`
    update turns set status = 'failed', error_code = ${code}, error_message = ${message}, ended_at = greatest(started_at, ${now}),
      request = null, input_tokens = ${usage.inputTokens}, output_tokens = ${usage.outputTokens}, cost_usd = ${usage.costUsd}
    where workspace_id = ${workspaceId} and id = ${turnId} and status = 'running' and ${isOurs}`;
  const statement = sql`
    with conversation as (
      update conversations set turn_id = null, turn_expires_at = null, input_tokens = input_tokens + ${usage.inputTokens},
        output_tokens = output_tokens + ${usage.outputTokens}, cost_usd = cost_usd + ${usage.costUsd} ${alsoPausing(pause)}
      where ${heldBy(turn)}
      returning ${notDeletedByKey()} as is_kept
    )
    ${steps.length > 0 ? sql`, step as (${insertingSteps(workspaceId, turnId, steps, sql`(select is_kept from conversation)`)} where ${isOurs} on conflict do nothing)` : sql``}
    ${released ? sql`, unclaimed as (${releasingClaim(released)})` : sql``}
    ${isPaid ? sql`, ${releasing(ended, isOurs)}` : sql``}
    ${endingUncounted(ending, { workspaceId, countedAt, released: isPaid })}`;
  await withStepsPartition(db, turnId, () => statement.execute(db));
}
