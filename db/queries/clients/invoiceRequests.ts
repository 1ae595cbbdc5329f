import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Checkouts, DB } from '../../../generated/db.ts';

/** A request to buy a plan by invoice, which nobody has opened yet. */
export type InvoiceRequest = Pick<Selectable<Checkouts>, 'workspace_id' | 'id' | 'plan_id' | 'coupon_id'>;

/** The requests of a client to buy a plan by invoice, the latest first. */
export function selectInvoiceRequests(
  trx: Transaction<DB>,
  workspaceId: string,
  clientId: string,
): Promise<InvoiceRequest[]> {
  return trx
    .selectFrom('checkouts')
    .select(['workspace_id', 'id', 'plan_id', 'coupon_id'])
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', clientId)
    .where('kind', '=', 'plan')
    .where('status', '=', 'invoice')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Notes that what a checkout was for has begun. */
export async function updateCheckoutCompleted(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id }: InvoiceRequest,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('checkouts')
    .set({ status: 'completed', completed_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Ends a request that came to nothing. */
export async function updateInvoiceRequestExpired(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id }: InvoiceRequest,
): Promise<void> {
  await trx
    .updateTable('checkouts')
    .set({ status: 'expired' })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute();
}

/** How long a coupon lowers the price of a plan: in the first period, for some months, or forever. */
export async function findCouponDuration(
  db: Kysely<DB>,
  workspaceId: string,
  couponId: string,
  planId: string,
): Promise<{ duration: string; months: number | null; intervalMonths: number | null } | undefined> {
  const { rows } = await sql<{ duration: string; months: number | null; intervalMonths: number | null }>`
    select c.duration, c.duration_months as months,
      case when p.billing_type = 'recurring' then p.billing_interval_months end as "intervalMonths"
    from coupons c join plans p on p.workspace_id = ${workspaceId} and p.id = ${planId}
    where c.workspace_id = ${workspaceId} and c.id = ${couponId}`.execute(db);
  return rows[0];
}
