import { changeMirroredPlan } from '../../domain/billing/mirrorPlans.ts';
import type { Handler } from '../handler.ts';
import { planBody } from './planBody.ts';

export const updatePlan: Handler<'updatePlan'> = async (context) => {
  const plan = await changeMirroredPlan(context, context.path.planPublicId, context.body);
  return context.reply(200, planBody(plan, context.runtime));
};
