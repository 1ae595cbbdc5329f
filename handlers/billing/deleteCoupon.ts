import { dropCoupon } from '../../domain/billing/coupons.ts';
import type { Handler } from '../handler.ts';

export const deleteCoupon: Handler<'deleteCoupon'> = async (context) => {
  await dropCoupon(context, context.path.couponPublicId);
  return context.reply(204);
};
