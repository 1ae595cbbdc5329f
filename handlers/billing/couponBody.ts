import type { CouponRow } from '../../db/queries/billing/coupons.ts';
import type { PlanRow } from '../../db/queries/billing/plans.ts';
import { isExhausted, isExpired } from '../../domain/billing/redemptions.ts';
import type { components } from '../../generated/api.ts';
import { planRefBody } from './planBody.ts';

type Coupon = components['schemas']['Coupon'];
type CouponListItem = components['schemas']['CouponListItem'];

/** The coupon with its plans as the contract shows it. */
export function couponBody(row: CouponRow, plans: PlanRow[], now: Date): Coupon {
  return {
    ...commonBody(row, now),
    applicablePlans: plans.map(planRefBody),
    providerCouponId: row.provider_coupon_id,
    providerPromotionCodeId: row.provider_promotion_code_id,
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The coupon as a list shows it. */
export function couponListItem(row: CouponRow & { plans: number }, now: Date): CouponListItem {
  return { ...commonBody(row, now), applicablePlansCount: row.plans };
}

function commonBody(row: CouponRow, now: Date): Omit<CouponListItem, 'applicablePlansCount'> {
  return {
    publicId: row.id,
    code: row.code,
    name: row.name,
    active: row.active,
    discountType: row.discount_type,
    discountValue: row.discount_value,
    currency: row.currency,
    duration: row.duration,
    durationMonths: row.duration_months,
    scope: row.scope,
    maxUses: row.max_uses,
    timesUsed: row.times_used,
    validFrom: row.valid_from.toISOString(),
    validUntil: row.valid_until?.toISOString() ?? null,
    isExpired: isExpired(row, now),
    isExhausted: isExhausted(row),
    createdAt: row.created_at.toISOString(),
  };
}
