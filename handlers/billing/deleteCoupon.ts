import { dropMirroredCoupon } from '../../domain/billing/mirrorCoupons.ts';
import type { Handler } from '../handler.ts';

export const deleteCoupon: Handler<'deleteCoupon'> = async (context) => {
  await dropMirroredCoupon(context, context.path.couponPublicId);
  return context.reply(204);
};
