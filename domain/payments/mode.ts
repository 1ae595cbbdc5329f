import { sql, type Transaction } from 'kysely';
import type { DB } from '../../generated/db.ts';
import type { HubPayments } from './paymentsOf.ts';

/** Clients with a subscription at the provider that has not ended, and checkouts that may still be paid: with them a hub keeps its account. */
export async function usesOfPayments(trx: Transaction<DB>, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ uses: number }>`
    select (select count(*) from clients where workspace_id = ${workspaceId} and provider_subscription_id is not null and deleted_at is null
        and status <> 'canceled')
      + (select count(*) from checkouts where workspace_id = ${workspaceId} and status = 'open') as uses`.execute(trx);
  return rows[0]?.uses ?? 0;
}

/**
 * The hub leaves its account: what plans and coupons have there is archived by the reconciler, and made anew at the next account when it is
 * first sold. Customers and ended subscriptions of clients are forgotten.
 */
export async function forgetPaymentObjects(
  trx: Transaction<DB>,
  { workspaceId, now }: { workspaceId: string; now: Date },
  { payment_mode: mode, payment_account: account }: HubPayments,
): Promise<void> {
  if (mode !== 'invoice') {
    await sql`
      insert into payment_intents (workspace_id, id, kind, subject_id, provider_ids, account, due_at, created_at)
      select ${workspaceId}::uuid, gen_random_uuid(), 'retired_plan', id, jsonb_build_object('productId', provider_product_id, 'priceId', provider_price_id,
        'paymentLinkId', provider_payment_link_id), ${account}::text, ${now}::timestamptz, ${now}::timestamptz
      from plans where workspace_id = ${workspaceId} and provider_product_id is not null
      union all
      select ${workspaceId}::uuid, gen_random_uuid(), 'retired_coupon', id, jsonb_build_object('couponId', provider_coupon_id, 'promotionCodeId',
        provider_promotion_code_id), ${account}::text, ${now}::timestamptz, ${now}::timestamptz
      from coupons where workspace_id = ${workspaceId} and provider_coupon_id is not null and deleted_at is null`.execute(
      trx,
    );
  }
  await trx
    .updateTable('plans')
    .set({
      provider_product_id: null,
      provider_price_id: null,
      provider_payment_link_id: null,
      provider_payment_link_url: null,
    })
    .where('workspace_id', '=', workspaceId)
    .where('provider_product_id', 'is not', null)
    .execute();
  await trx
    .updateTable('coupons')
    .set({ provider_coupon_id: null, provider_promotion_code_id: null })
    .where('workspace_id', '=', workspaceId)
    .where('provider_coupon_id', 'is not', null)
    .execute();
  await trx
    .updateTable('clients')
    .set({ provider_customer_id: null, provider_subscription_id: null })
    .where('workspace_id', '=', workspaceId)
    .where('provider_customer_id', 'is not', null)
    .execute();
}

/** Takes the address away that leads from events to the workspace. */
export async function removePaymentAddresses(trx: Transaction<DB>, workspaceId: string): Promise<void> {
  await trx
    .deleteFrom('public_addresses')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'payments')
    .execute();
}
