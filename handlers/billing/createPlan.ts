import { addPlan } from '../../domain/billing/plans.ts';
import type { Handler } from '../handler.ts';
import { planBody } from './planBody.ts';

export const createPlan: Handler<'createPlan'> = async (context) => {
  const plan = await addPlan(context, context.body);
  return context.reply(201, planBody(plan));
};
