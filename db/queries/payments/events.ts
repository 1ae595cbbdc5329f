import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, PaymentEvents } from '../../../generated/db.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';

/** An event of the payment provider. */
export type PaymentEventRow = Selectable<PaymentEvents>;

/** Stores an event as it came. False when the workspace has it already. */
export async function insertPaymentEvent(
  db: Kysely<DB>,
  event: Pick<PaymentEventRow, 'workspace_id' | 'id' | 'type' | 'created_at' | 'received_at'> & {
    payload: Record<string, unknown>;
  },
): Promise<boolean> {
  const { payload, ...columns } = event;
  const stored = await db
    .insertInto('payment_events')
    .values({ ...columns, due_at: event.received_at, payload: JSON.stringify(payload) })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return stored !== undefined;
}

/** Events that wait and are due, in the order in which they were made. */
export function selectDueEvents(
  db: Kysely<DB>,
  workspaceId: string,
  now: Date,
  limit: number,
): Promise<PaymentEventRow[]> {
  return db
    .selectFrom('payment_events')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'received')
    .where('due_at', '<=', now)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Ends an event that waits: it was applied, is of no use, or could not be applied. */
export async function settlePaymentEvent(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: Pick<PaymentEventRow, 'workspace_id' | 'id'>,
  { status, reason, now }: { status: 'applied' | 'ignored' | 'failed'; reason: string | null; now: Date },
): Promise<void> {
  await db
    .updateTable('payment_events')
    .set({ status, error_message: reason, settled_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'received')
    .execute();
}

/** Lets an event wait, since it could not be applied this time. */
export async function postponePaymentEvent(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: Pick<PaymentEventRow, 'workspace_id' | 'id'>,
  { dueAt, reason }: { dueAt: Date; reason: string },
): Promise<void> {
  await db
    .updateTable('payment_events')
    .set((row) => ({ due_at: dueAt, error_message: reason, attempts: row('attempts', '+', 1) }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', '=', 'received')
    .execute();
}

/** Lets a failed or ignored event be applied again. False when there is none. */
export async function replayPaymentEvent(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  const row = await db
    .updateTable('payment_events')
    .set({ status: 'received', attempts: 0, due_at: now, settled_at: null })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('status', 'in', ['failed', 'ignored'])
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** The latest events of a workspace, newest first. */
export function selectPaymentEvents(
  db: Kysely<DB>,
  workspaceId: string,
  { status, limit }: { status?: PaymentEventRow['status'] | undefined; limit: number },
): Promise<Omit<PaymentEventRow, 'payload'>[]> {
  let query = db
    .selectFrom('payment_events')
    .select(['workspace_id', 'id', 'type', 'status', 'attempts', 'due_at', 'error_message'])
    .select(['created_at', 'received_at', 'settled_at'])
    .where('workspace_id', '=', workspaceId);
  if (status !== undefined) query = query.where('status', '=', status);
  return query.orderBy('received_at', 'desc').orderBy('id').limit(limit).execute();
}

/** Workspaces with events that are due. `system` sees all workspaces. */
export async function findWorkspacesWithDueEvents(
  system: Kysely<DB>,
  now: Date,
  limit: number,
): Promise<Swept<{ workspaceId: string }>> {
  const due = sql<{ workspaceId: string }>`
    select workspace_id as "workspaceId" from payment_events where status = 'received' and due_at <= ${now}
    group by workspace_id order by min(due_at) limit ${limit}`;
  const next = sql`select min(due_at) from payment_events where status = 'received' and due_at > ${now}`;
  const { rows } = await sweeping(due, next).execute(system);
  return sweptOf(rows);
}

/** Since when the event waits that has waited longest of those that are due. */
export async function findOldestEventTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const oldest = await system
    .selectFrom('payment_events')
    .select('due_at')
    .where('status', '=', 'received')
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return oldest?.due_at;
}

/** Removes events that were settled before `before`: they have names and addresses of buyers. */
export async function removeOldPaymentEvents(system: Kysely<DB>, before: Date): Promise<void> {
  await system
    .deleteFrom('payment_events')
    .where('status', 'in', ['applied', 'ignored'])
    .where('settled_at', '<', before)
    .execute();
}
