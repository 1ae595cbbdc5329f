import { type RawBuilder, sql } from 'kysely';
import type { StoredAttachment } from '../../stored/attachment.ts';
import type { StoredTurnRequest } from '../../stored/turnRequest.ts';
import { type MemoryFact, memoryFactsSql } from '../conversations/memories.ts';
import { checkingPayment, type Payment, reserving } from '../credits/reserve.ts';
import { holdingClaim, type KeyClaim, notingBegun } from '../workspaces/idempotencyKeys.ts';
import { quotaTaken, takingFromQuota } from '../workspaces/quota.ts';
import { type KnownWorkspace, knownStill } from './knownWorkspace.ts';
import type { HeldTurn } from './leases.ts';

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
  /** What was asked of it and no other row has; null = nothing. */
  request: StoredTurnRequest | null;
}

/**
 * SQL: what comes before the conversation is taken: what is known still holds, the claim is held, the conversation is looked for
 * (`looking`), whoever pays for it can, and an operation is taken from the quota. Nothing is taken where `condition` is false.
 */
export function guards(
  start: TurnStart,
  { looking = sql``, condition = sql`true` }: { looking?: RawBuilder<unknown>; condition?: RawBuilder<unknown> } = {},
): RawBuilder<unknown> {
  const { claim, known, usesQuota, payment, workspaceId, now } = start;
  const current = known ? sql`current as (${knownStill(start, known)}), ` : sql``;
  const keyed = claim ? sql`keyed as (${holdingClaim(claim)}), ` : sql``;
  const checked = payment ? checkingPayment(start, payment) : sql``;
  if (!usesQuota) return sql`${current}${keyed}${looking}${checked}`;
  return sql`${current}${keyed}${looking}${checked}${takingFromQuota(workspaceId, now, sql`${condition} and ${foundations(start)}`)}, `;
}

/** SQL condition: the guards let the turn begin. */
export function mayBegin(start: TurnStart): RawBuilder<unknown> {
  return sql`${start.usesQuota ? quotaTaken : sql`true`} and ${foundations(start)}`;
}

function foundations({ claim, known, payment }: TurnStart): RawBuilder<unknown> {
  const unchanged = known ? sql` and exists (select from current)` : sql``;
  const paid = payment ? sql` and not exists (select from refused)` : sql``;
  return sql`true${unchanged}${claim ? sql` and ${claimHeld}` : sql``}${paid}`;
}

/** SQL condition: the claim of the Idempotency-Key holds. */
export const claimHeld = sql`exists (select from keyed)`;

/** SQL: stores, beside the conversation that a turn takes, the turn, the message, the use of the command, and what the turn reserves. */
export function companions(start: TurnStart): RawBuilder<unknown> {
  const { workspaceId, turnId, versionNumber, kind, now, message, commandId, claim, conversationId, payment, request } =
    start;
  const turn = sql`, turn as (
      insert into turns (workspace_id, id, conversation_id, agent_id, version_number, kind, request, started_at)
      select workspace_id, ${turnId}, id, agent_id, ${versionNumber}, ${kind}, ${request && JSON.stringify(request)}::json, ${now} from conversation
    )`;
  const answered = () => sql`, message as (
      update messages set turn_id = ${turnId}, model_text = ${message?.modelText ?? null}, attachments = ${JSON.stringify(message?.attachments ?? [])}
      where workspace_id = ${workspaceId} and id = ${message?.id ?? null} and exists (select from conversation)
    )`;
  const inbound = message?.inbound;
  const joined = () => sql`, message as (
      update messages set turn_id = ${turnId}, model_text = answered.model_text, attachments = answered.attachments
      from jsonb_to_recordset(${JSON.stringify(inbound?.map(({ id, modelText, attachments }) => ({ id, model_text: modelText, attachments })))}::jsonb)
        as answered (id uuid, model_text text, attachments jsonb)
      where messages.workspace_id = ${workspaceId} and messages.id = answered.id and exists (select from conversation)
    ), inbound as (
      update inbound_messages set turn_id = ${turnId}
      where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and status = 'taken'
        and message_id = any (${inbound?.map(({ id }) => id)}::uuid[]) and exists (select from conversation)
    )`;
  const said =
    message &&
    sql`, message as (
      insert into messages (workspace_id, id, conversation_id, turn_id, role, content, model_text, attachments, cost_ops, sent_at)
      select workspace_id, ${message.id}, id, ${turnId}, 'user', ${message.content}, ${message.modelText},
        ${JSON.stringify(message.attachments)}, 0, last_message_at
      from conversation
    )`;
  const command =
    commandId &&
    sql`, command as (
      update agent_commands set usage_count = usage_count + 1, last_used_at = ${now}
      where workspace_id = ${workspaceId} and id = ${commandId} and exists (select from conversation)
    )`;
  const begun =
    claim &&
    message &&
    sql`, begun as (${notingBegun(claim, { conversationId, messageId: message.id, turnId })} and exists (select from conversation))`;
  return sql`${turn}${inbound ? joined() : message?.isStored ? answered() : (said ?? sql``)}${command ?? sql``}${begun ?? sql``}${
    payment ? reserving(start, payment) : sql``
  }`;
}

/** SQL value: the facts that the agent knows of the end user of the row `conversation`, when the turn needs them. */
export function memoriesOf({ workspaceId, agentId, recalls }: TurnStart): RawBuilder<MemoryFact[] | null> {
  if (!recalls) return sql`null::json`;
  return memoryFactsSql(sql`${workspaceId}`, sql`${agentId}`, sql.ref('conversation.external_user_id'));
}
