import type { MirroredCoupon, PaymentProvider } from '../provider.ts';
import { PaymentProviderError } from '../provider.ts';
import { stripeAmount } from './amounts.ts';
import type { StripeCall } from './client.ts';
import { unlessMissing } from './missing.ts';
import { INTENT } from './plans.ts';

/** The id of a coupon is ours to choose, so that it is found by its intent. */
const couponIdOf = (key: string) => `guildhall_${key}`;

/** Stripe takes letters, digits and dashes; ours have underscores and no dashes, so no two codes become one. */
const promotionCodeOf = (code: string) => code.replaceAll('_', '-');

/** Coupons and promotion codes. */
export function stripeCoupons(
  call: StripeCall,
): Pick<PaymentProvider, 'createCoupon' | 'setCouponActive' | 'deleteCoupon' | 'undoCoupon'> {
  const setActive = (key: string, id: string, active: boolean) =>
    call({ key: `${key}-${active}-${id}` }, (stripe, options) => stripe.promotionCodes.update(id, { active }, options));
  const remove = (key: string, id: string) =>
    unlessMissing(call({ key: `${key}-delete` }, (stripe, options) => stripe.coupons.del(id, {}, options)));

  return {
    async createCoupon(key, coupon) {
      const metadata = { guildhall_coupon: coupon.id, [INTENT]: key };
      const made = await call({ key: `${key}-coupon` }, (stripe, options) =>
        stripe.coupons.create(
          {
            id: couponIdOf(key),
            name: nameOf(coupon),
            duration: coupon.duration,
            ...(coupon.durationMonths === null ? {} : { duration_in_months: coupon.durationMonths }),
            ...discountOf(coupon),
            ...(coupon.productIds === null ? {} : { applies_to: { products: [...coupon.productIds] } }),
            metadata,
          },
          options,
        ),
      );
      const code = await call({ key: `${key}-code` }, (stripe, options) =>
        stripe.promotionCodes.create(
          {
            promotion: { type: 'coupon', coupon: made.id },
            code: promotionCodeOf(coupon.code),
            active: coupon.isActive,
            ...(coupon.maxUses === null ? {} : { max_redemptions: coupon.maxUses }),
            ...(coupon.validUntil === null ? {} : { expires_at: Math.floor(coupon.validUntil.getTime() / 1000) }),
            metadata,
          },
          options,
        ),
      );
      return { couponId: made.id, promotionCodeId: code.id };
    },

    async setCouponActive(key, promotionCodeId, isActive) {
      await setActive(key, promotionCodeId, isActive);
    },

    async deleteCoupon(key, { couponId, promotionCodeId }) {
      await setActive(key, promotionCodeId, false).catch((error: unknown) => {
        // A code without its coupon works no more, and may not be changed either.
        if (!(error instanceof PaymentProviderError) || !['missing', 'refused'].includes(error.failure)) throw error;
      });
      await remove(key, couponId);
    },

    async undoCoupon(key) {
      const id = couponIdOf(key);
      const codes = await unlessMissing(
        call({}, (stripe, options) => stripe.promotionCodes.list({ coupon: id, active: true, limit: 100 }, options)),
      );
      for (const code of codes?.data ?? []) await setActive(`${key}-undo`, code.id, false);
      await remove(`${key}-undo`, id);
    },
  };
}

/** Shown on receipts; Stripe takes 40 characters. */
function nameOf({ name, code }: MirroredCoupon): string {
  return (name ?? code).slice(0, 40);
}

function discountOf({ discount }: MirroredCoupon) {
  if ('percent' in discount) return { percent_off: discount.percent };
  const { amountCents, currency, currencyDigits } = discount;
  return { amount_off: stripeAmount(amountCents, currency, currencyDigits), currency: currency.toLowerCase() };
}
