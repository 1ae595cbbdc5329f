import { dropMirroredPlan } from '../../domain/billing/mirrorPlans.ts';
import type { Handler } from '../handler.ts';

export const deletePlan: Handler<'deletePlan'> = async (context) => {
  await dropMirroredPlan(context, context.path.planPublicId);
  return context.reply(204);
};
