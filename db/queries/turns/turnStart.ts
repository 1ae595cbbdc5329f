import { type RawBuilder, sql } from 'kysely';
import { checkingPayment, reserving } from '../credits/reserve.ts';
import { holdingClaim, notingBegun } from '../workspaces/idempotencyKeys.ts';
import { quotaTaken, takingFromQuota } from '../workspaces/quota.ts';
import { knownStill } from './knownWorkspace.ts';
import type { TurnStart } from './turns.ts';

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
  const { workspaceId, turnId, versionNumber, kind, now, message, commandId, claim, conversationId, payment } = start;
  const turn = sql`, turn as (
      insert into turns (workspace_id, id, conversation_id, agent_id, version_number, kind, started_at)
      select workspace_id, ${turnId}, id, agent_id, ${versionNumber}, ${kind}, ${now} from conversation
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
