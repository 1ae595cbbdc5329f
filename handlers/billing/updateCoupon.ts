import { selectCouponPlans } from '../../db/queries/billing/coupons.ts';
import { changeMirroredCoupon } from '../../domain/billing/mirrorCoupons.ts';
import type { Handler } from '../handler.ts';
import { couponBody } from './couponBody.ts';

export const updateCoupon: Handler<'updateCoupon'> = async (context) => {
  const { path, body, db, workspaceId, clock, reply } = context;
  const coupon = await changeMirroredCoupon(context, path.couponPublicId, body);
  return reply(200, couponBody(coupon, await selectCouponPlans(db, workspaceId, coupon.id), clock.now()));
};
