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

/** Workspaces with open intents that are due, those that have waited longest first. `system` sees all workspaces. */
export async function findWorkspacesWithDueIntents(
  system: Kysely<DB>,
  now: Date,
  limit: number,
): Promise<{ workspaceId: string }[]> {
  return await system
    .selectFrom('payment_intents')
    .select('workspace_id as workspaceId')
    .where('status', '=', 'open')
    .where('due_at', '<=', now)
    .groupBy('workspace_id')
    .orderBy(sql`min(due_at)`)
    .limit(limit)
    .execute();
}
