import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, Deliveries } from '../../../generated/db.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';
import type { DueConversation } from './dueInbound.ts';
import { applyingReceipts, OUTCOME_UNKNOWN } from './receipts.ts';

/** A message on its way to a channel. */
export type DeliveryRow = Selectable<Deliveries>;

/** The delivery that a process has taken to send it, or when there will be one. */
export type NextDelivery = { delivery: DeliveryRow } | { dueAt: Date } | null;

/**
 * Takes the next delivery of a conversation, in their order: the earlier ones must have ended. Nobody else takes it until `leaseUntil`.
 * One that was being sent when its process died ends as failed, since nobody knows whether the provider took it. Null when nothing is
 * left; `dueAt` when the next one must wait, or is being sent.
 */
export async function takeNextDelivery(
  db: Kysely<DB>,
  workspaceId: string,
  conversationId: string,
  { now, leaseUntil }: { now: Date; leaseUntil: Date },
): Promise<NextDelivery> {
  await sql`
    update deliveries set status = 'failed', error_code = ${OUTCOME_UNKNOWN},
      error_message = 'The process ended while it sent the message: nobody knows whether it was sent.'
    where workspace_id = ${workspaceId} and conversation_id = ${conversationId} and status = 'sending' and due_at <= ${now}`.execute(
    db,
  );
  const { rows } = await sql<DeliveryRow>`
    update deliveries set status = 'sending', attempts = attempts + 1, due_at = ${leaseUntil}
    where workspace_id = ${workspaceId} and id = (
        select id from deliveries where workspace_id = ${workspaceId} and conversation_id = ${conversationId}
          and status in ('queued', 'sending') order by id limit 1)
      and status = 'queued' and due_at <= ${now}
    returning *`.execute(db);
  const [taken] = rows;
  if (taken) return { delivery: taken };
  const { rows: waiting } = await sql<{ due_at: Date }>`
    select due_at from deliveries where workspace_id = ${workspaceId} and conversation_id = ${conversationId}
      and status in ('queued', 'sending') order by id limit 1`.execute(db);
  return waiting[0] ? { dueAt: waiting[0].due_at } : null;
}

/** Stores that a delivery was sent, and what the provider has said of it already. */
export async function updateSent(
  db: Kysely<DB>,
  {
    workspace_id: workspaceId,
    connection_id: connectionId,
    id,
  }: Pick<DeliveryRow, 'workspace_id' | 'connection_id' | 'id'>,
  providerMessageId: string,
  now: Date,
): Promise<void> {
  // A status with our own id may have come before: then it has gone further already.
  await sql`
    with sent as (
      update deliveries set provider_message_id = coalesce(provider_message_id, ${providerMessageId}), sent_at = coalesce(sent_at, ${now}),
        status = case when status in ('sending', 'queued') or (status = 'failed' and error_code = ${OUTCOME_UNKNOWN}) then 'sent' else status end,
        error_code = case when status = 'failed' and error_code <> ${OUTCOME_UNKNOWN} then error_code end,
        error_message = case when status = 'failed' and error_code <> ${OUTCOME_UNKNOWN} then error_message end
      where workspace_id = ${workspaceId} and id = ${id} returning id
    )
    select id from sent`.execute(db);
  await sql`
    with early as (
      delete from early_receipts where workspace_id = ${workspaceId} and connection_id = ${connectionId}
        and provider_message_id = ${providerMessageId}
      returning *
    ), receipt as (
      select ${id}::uuid as delivery, provider_message_id, status, at, error_code, error_message from early
    )
    ${applyingReceipts(workspaceId, sql`receipt`)}`.execute(db);
}

/** How a delivery ends that was not sent, or when it is tried again. */
export interface Unsent {
  status: 'failed' | 'dropped' | 'queued';
  code: string;
  message: string | null;
  /** Of one that is tried again. */
  dueAt?: Date;
}

/** Stores that a delivery was not sent. One of which the provider has said otherwise meanwhile stays as it is. */
export async function updateUnsent(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: Pick<DeliveryRow, 'workspace_id' | 'id'>,
  { status, code, message, dueAt }: Unsent,
): Promise<void> {
  await sql`
    update deliveries set status = ${status}, error_code = ${code}, error_message = ${message}, due_at = coalesce(${dueAt ?? null}, due_at)
    where workspace_id = ${workspaceId} and id = ${id} and status = 'sending'`.execute(db);
}

/** Whether something has gone out of the reply that the delivery is a part of. */
export async function hasSentOfReply(
  db: Kysely<DB>,
  { workspace_id: workspaceId, message_id, id }: Pick<DeliveryRow, 'workspace_id' | 'message_id' | 'id'>,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from messages mine
      join messages m on m.workspace_id = ${workspaceId} and m.conversation_id = mine.conversation_id and m.turn_id = mine.turn_id
      join deliveries d on d.workspace_id = ${workspaceId} and d.message_id = m.id
      where mine.workspace_id = ${workspaceId} and mine.id = ${message_id} and d.id < ${id} and d.status in ('sent', 'delivered', 'read')
    ) as found`.execute(db);
  return rows[0]?.found === true;
}

/** Conversations of all workspaces in which something is due to go out, those of each workspace in turns. */
export async function findDueDeliveries(system: Kysely<DB>, now: Date, limit: number): Promise<Swept<DueConversation>> {
  const due = sql<DueConversation>`
    select workspace_id as "workspaceId", conversation_id as "conversationId" from (
      select workspace_id, conversation_id, min(due_at) as due_at from deliveries
      where status in ('queued', 'sending') and due_at <= ${now} group by 1, 2
    ) due order by row_number() over (partition by workspace_id order by due_at), due_at limit ${limit}`;
  const next = sql`select min(due_at) from deliveries where status in ('queued', 'sending') and due_at > ${now}`;
  const { rows } = await sweeping(due, next).execute(system);
  return sweptOf(rows);
}

/** Since when the delivery of all workspaces that waits longest is due; undefined when none is. */
export async function findOldestDeliveryTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date }>`
    select due_at as due from deliveries where status in ('queued', 'sending') and due_at <= ${now} order by due_at limit 1`.execute(
    system,
  );
  return rows[0]?.due;
}

/** Removes what providers said of messages that turned out not to be ours, of all workspaces. */
export async function removeOldReceipts(system: Kysely<DB>, before: Date): Promise<void> {
  await sql`delete from early_receipts where created_at < ${before}`.execute(system);
}
