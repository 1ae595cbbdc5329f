import type { Transaction } from 'kysely';
import { type ApiError, fault } from '../../core/errors.ts';
import {
  type CouponRow,
  findCouponByCode,
  removeCouponUse,
  updateCouponUse,
} from '../../db/queries/billing/coupons.ts';
import type { DB } from '../../generated/db.ts';

/**
 * Takes one use of a coupon for a purchase of the plan. However many redeem at once, no more get it than `maxUses` says; the coupon's row is
 * locked until the transaction ends. Throws COUPON_NOT_FOUND, and COUPON_RULE_VIOLATED with the reason as its message.
 */
export async function redeemCoupon(
  trx: Transaction<DB>,
  workspaceId: string,
  redemption: { code: string; planId: string; now: Date },
): Promise<CouponRow> {
  const redeemed = await updateCouponUse(trx, workspaceId, redemption);
  if (redeemed) return redeemed;
  const coupon = await findCouponByCode(trx, workspaceId, redemption.code);
  throw coupon ? refusalOfCoupon(coupon, redemption.now) : fault('COUPON_NOT_FOUND');
}

/** Gives the use back that `redeemCoupon` took, when the purchase came to nothing. Once for each redemption: it has no key. */
export function returnRedemption(trx: Transaction<DB>, workspaceId: string, couponId: string): Promise<void> {
  return removeCouponUse(trx, workspaceId, couponId);
}

/** Whether the time of the coupon has passed. */
export function isExpired({ valid_until: end }: Pick<CouponRow, 'valid_until'>, now: Date): boolean {
  return end !== null && end <= now;
}

/** Whether the coupon has no use left. */
export function isExhausted({ max_uses: most, times_used: used }: Pick<CouponRow, 'max_uses' | 'times_used'>): boolean {
  return most !== null && used >= most;
}

function refusalOfCoupon(coupon: CouponRow, now: Date): ApiError {
  if (!coupon.active) return couponRuleFault('The coupon is switched off.');
  if (coupon.valid_from > now) return couponRuleFault('The coupon is not valid yet.');
  if (isExpired(coupon, now)) return couponRuleFault('The coupon has expired.');
  if (isExhausted(coupon)) return couponRuleFault('The coupon is used up.');
  return couponRuleFault('The coupon is not for this plan.');
}

/** The fault for a coupon that breaks a rule, with the rule as its message. */
export function couponRuleFault(message: string): ApiError {
  return fault('COUPON_RULE_VIOLATED', message);
}

/**
 * What is left of a price in the smallest unit of its currency. The discount of a percentage is rounded to the nearest unit, a half up; a fixed
 * amount takes no more than the price.
 */
export function discounted(
  priceCents: number,
  { discount_type: type, discount_value: value }: Pick<CouponRow, 'discount_type' | 'discount_value'>,
): number {
  const discount = type === 'percentage' ? Math.floor((priceCents * value + 50) / 100) : value;
  return Math.max(0, priceCents - discount);
}
