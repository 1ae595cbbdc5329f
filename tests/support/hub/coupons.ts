import type { components } from '../../../generated/api.ts';
import type { TestApp } from '../http/app.ts';

type Schemas = components['schemas'];

let made = 0;

/** The body of a coupon of ten per cent off the first payment of any plan, with these fields. */
export function couponFields(fields: object = {}) {
  return {
    code: `COUPON_${++made}`,
    discountType: 'percentage',
    discountValue: 10,
    duration: 'once',
    scope: 'hub',
    ...fields,
  };
}

/** A coupon with these fields; the rest is as `couponFields` says. */
export async function makeCoupon(
  app: TestApp,
  fields: Partial<Schemas['CouponCreate']> = {},
  key?: string,
): Promise<Schemas['Coupon']> {
  return (await app.api('post', '/billing/coupons', key).send(couponFields(fields)).expect(201)).body;
}

/** The coupon as `getCoupon` shows it. */
export async function readCoupon(app: TestApp, id: string): Promise<Schemas['Coupon']> {
  return (await app.api('get', `/billing/coupons/${id}`).expect(200)).body;
}
