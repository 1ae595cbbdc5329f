import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, PaymentIntents } from '../../../generated/db.ts';

/** Something that is about to be made or changed at the payment provider. */
export type PaymentIntentRow = Selectable<PaymentIntents>;

/** What names an intent. */
export type PaymentIntentKey = Pick<PaymentIntentRow, 'workspace_id' | 'id'>;

/** Stores an intent. It is open. */
export async function insertPaymentIntent(
  db: Kysely<DB>,
  intent: Pick<
    PaymentIntentRow,
    'workspace_id' | 'id' | 'kind' | 'subject_id' | 'account' | 'due_at' | 'created_at'
  > & {
    provider_ids?: Record<string, string>;
  },
): Promise<void> {
  const { provider_ids: ids = {}, ...columns } = intent;
  await db
    .insertInto('payment_intents')
    .values({ ...columns, provider_ids: JSON.stringify(ids) })
    .execute();
}

/** Closes an open intent. One that was closed before stays as it is. */
export async function closePaymentIntent(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: PaymentIntentKey,
  status: 'done' | 'undone',
): Promise<void> {
  await db
    .updateTable('payment_intents')
    .set({ status })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'open')
    .execute();
}

/**
 * Closes an intent as done, unless another one of the same subject is open: then nobody knows whose change the provider has seen last, and both are
 * left to the reconciler.
 */
export async function settlePaymentIntent(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id, subject_id: subjectId }: PaymentIntentKey & Pick<PaymentIntentRow, 'subject_id'>,
): Promise<void> {
  await sql`
    update payment_intents i set status = 'done'
    where i.workspace_id = ${workspaceId} and i.id = ${id} and i.status = 'open' and not exists (
      select from payment_intents o
      where o.workspace_id = ${workspaceId} and o.subject_id = ${subjectId} and o.status = 'open' and o.id <> ${id})`.execute(
    db,
  );
}

/** Whether a change of the plan of a client's subscription is under way at the provider, or was left there by a process that died. */
export async function hasOpenPlanIntent(db: Kysely<DB>, workspaceId: string, clientId: string): Promise<boolean> {
  const row = await db
    .selectFrom('payment_intents')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('subject_id', '=', clientId)
    .where('status', '=', 'open')
    .where('kind', 'in', ['plan_now', 'plan_later'])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Puts off an open intent that could not be healed. */
export async function postponePaymentIntent(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: PaymentIntentKey,
  { dueAt, reason }: { dueAt: Date; reason: string },
): Promise<void> {
  await db
    .updateTable('payment_intents')
    .set((row) => ({ due_at: dueAt, error_message: reason, attempts: row('attempts', '+', 1) }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'open')
    .execute();
}

/** The open intents of a workspace that are due, oldest first. */
export function selectDueIntents(
  db: Kysely<DB>,
  workspaceId: string,
  now: Date,
  limit: number,
): Promise<PaymentIntentRow[]> {
  return db
    .selectFrom('payment_intents')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'open')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit)
    .execute();
}

/** Intents that one sweep looks at, and rows of the other kinds. */
export interface HealingDue {
  now: Date;
  /** Hubs whose subscriptions were compared before this time are due. */
  comparedBefore: Date;
  limit: number;
}

/**
 * Workspaces in which something is to be healed: an intent that stayed open, a checkout whose time has passed, subscriptions that were not compared
 * for long. `system` sees all workspaces.
 */
export async function findWorkspacesToHeal(
  system: Kysely<DB>,
  { now, comparedBefore, limit }: HealingDue,
): Promise<{ workspaceId: string }[]> {
  const { rows } = await sql<{ workspaceId: string }>`
    select workspace_id as "workspaceId" from (
      (select workspace_id, due_at from payment_intents where status = 'open' and due_at <= ${now} order by due_at limit ${limit})
      union all
      (select workspace_id, expires_at from checkouts where status = 'open' and expires_at <= ${now} order by expires_at limit ${limit})
      union all
      (select workspace_id, payments_compared_at from hubs
        where payment_mode <> 'invoice' and (payments_compared_at is null or payments_compared_at <= ${comparedBefore}) limit ${limit})
    ) as due group by workspace_id order by min(due_at) nulls first limit ${limit}`.execute(system);
  return await Promise.resolve(rows);
}
