import { selectCouponPlans } from '../../db/queries/billing/coupons.ts';
import { addCoupon, planCoupon } from '../../domain/billing/coupons.ts';
import type { Handler } from '../handler.ts';
import { couponBody } from './couponBody.ts';

export const createCoupon: Handler<'createCoupon'> = async (context) => {
  const { body, db, workspaceId, clock, reply } = context;
  const now = clock.now();
  const coupon = await addCoupon(context, planCoupon(body, { workspaceId, now }));
  return reply(201, couponBody(coupon, await selectCouponPlans(db, workspaceId, coupon.id), now));
};
