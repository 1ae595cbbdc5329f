import type { Kysely, Selectable } from 'kysely';
import type { DB, Plans } from '../../generated/db.ts';
import type { MirroredPlan, PlanObjects } from '../../integrations/payments/provider.ts';

/** The columns of a plan that its objects at the provider are made from. */
export type MirroredPlanRow = Pick<
  Selectable<Plans>,
  'id' | 'name' | 'description' | 'price_cents' | 'currency' | 'billing_type' | 'billing_interval_months' | 'status'
>;

/**
 * A plan as the provider mirrors it. A free one has no objects there: do not pass it. `currencyDigits`: decimals of its smallest unit;
 * `returnUrl`: the address of the hub.
 */
export function mirroredPlan(
  plan: MirroredPlanRow,
  { currencyDigits, returnUrl }: Pick<MirroredPlan, 'currencyDigits' | 'returnUrl'>,
): MirroredPlan {
  return {
    id: plan.id,
    name: plan.name,
    description: plan.description,
    priceCents: plan.price_cents,
    currency: plan.currency,
    currencyDigits,
    intervalMonths: plan.billing_type === 'recurring' ? plan.billing_interval_months : null,
    isActive: plan.status === 'active',
    returnUrl,
  };
}

/** The provider's columns of a plan. */
export type PlanObjectColumns = Pick<
  Selectable<Plans>,
  'provider_product_id' | 'provider_price_id' | 'provider_payment_link_id' | 'provider_payment_link_url'
>;

/** The objects of a plan; null for a plan that has none. */
export function planObjectsOf(row: PlanObjectColumns): PlanObjects | null {
  const {
    provider_product_id: productId,
    provider_price_id: priceId,
    provider_payment_link_id: paymentLinkId,
    provider_payment_link_url: paymentLinkUrl,
  } = row;
  if (!productId || !priceId || !paymentLinkId) return null;
  return { productId, priceId, paymentLinkId, paymentLinkUrl: paymentLinkUrl ?? '' };
}

/** The columns for these objects. */
export function planColumnsOf(objects: PlanObjects | null): PlanObjectColumns {
  return {
    provider_product_id: objects?.productId ?? null,
    provider_price_id: objects?.priceId ?? null,
    provider_payment_link_id: objects?.paymentLinkId ?? null,
    provider_payment_link_url: objects?.paymentLinkUrl ?? null,
  };
}

/** A plan, deleted or not, as its objects are brought to. */
export async function findMirroredPlan(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<Selectable<Plans> | undefined> {
  return db
    .selectFrom('plans')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}
