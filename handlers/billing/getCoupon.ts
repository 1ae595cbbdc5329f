import { fault } from '../../core/errors.ts';
import { findCoupon, selectCouponPlans } from '../../db/queries/billing/coupons.ts';
import type { Handler } from '../handler.ts';
import { couponBody } from './couponBody.ts';

export const getCoupon: Handler<'getCoupon'> = async ({ path, db, workspaceId, clock, reply }) => {
  const coupon = await findCoupon(db, workspaceId, path.couponPublicId);
  if (!coupon) throw fault('COUPON_NOT_FOUND');
  return reply(200, couponBody(coupon, await selectCouponPlans(db, workspaceId, coupon.id), clock.now()));
};
