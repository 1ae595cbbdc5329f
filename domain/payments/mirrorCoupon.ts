import type { CouponRow } from '../../db/queries/billing/coupons.ts';
import { selectCouponPlans } from '../../db/queries/billing/coupons.ts';
import type { MirroredCoupon } from '../../integrations/payments/provider.ts';
import { currencyDigits } from '../billing/currencies.ts';
import type { PaymentContext } from './paymentsOf.ts';
import { withIntent } from './withIntent.ts';

/** A coupon as the provider mirrors it; `productIds`: the products of the plans that it is for, null for every plan. */
export function mirroredCouponOf(
  row: Pick<CouponRow, 'id' | 'code' | 'name' | 'active' | 'discount_type' | 'discount_value' | 'currency'> &
    Pick<CouponRow, 'duration' | 'duration_months' | 'max_uses' | 'valid_until'>,
  productIds: readonly string[] | null,
): MirroredCoupon {
  const { currency, discount_value: value } = row;
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    isActive: row.active,
    discount:
      row.discount_type === 'percentage' || currency === null
        ? { percent: value }
        : { amountCents: value, currency, currencyDigits: currencyDigits(currency) ?? 2 },
    duration: row.duration,
    durationMonths: row.duration_months,
    productIds,
    maxUses: row.max_uses,
    validUntil: row.valid_until,
  };
}

/**
 * The id at the provider of a coupon, which is made there if it has none: it was made while the hub sold by invoice. Null for a hub that
 * still does. Throws PAYMENT_PROVIDER_ERROR.
 */
export async function mirrorCoupon(context: PaymentContext, row: CouponRow): Promise<string | null> {
  if (row.provider_coupon_id !== null) return row.provider_coupon_id;
  const { db, workspaceId } = context;
  const plans = row.scope === 'plans' ? await selectCouponPlans(db, workspaceId, row.id) : null;
  const productIds = plans?.flatMap(({ provider_product_id: id }) => (id === null ? [] : [id])) ?? null;
  const mirrored = mirroredCouponOf(row, productIds);
  return withIntent(
    context,
    { kind: 'coupon', subjectId: row.id },
    {
      make: (provider, key) => provider.createCoupon(key, mirrored),
      async store(made) {
        await db
          .updateTable('coupons')
          .set({
            provider_coupon_id: made?.couponId ?? null,
            provider_promotion_code_id: made?.promotionCodeId ?? null,
          })
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', row.id)
          .where('provider_coupon_id', 'is', null)
          .execute();
        return made?.couponId ?? null;
      },
    },
  );
}
