import { selectCouponPlans } from '../../db/queries/billing/coupons.ts';
import { prepareNewCoupon } from '../../domain/billing/mirrorCoupons.ts';
import type { Handler } from '../handler.ts';
import { couponBody } from './couponBody.ts';

export const createCoupon: Handler<'createCoupon'> = {
  async prepare(request) {
    const store = await prepareNewCoupon(request, request.body);
    return async (context) => {
      const { db, workspaceId, clock, reply } = context;
      const coupon = await store(context);
      return reply(201, couponBody(coupon, await selectCouponPlans(db, workspaceId, coupon.id), clock.now()));
    };
  },
};
