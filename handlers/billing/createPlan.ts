import { prepareNewPlan } from '../../domain/billing/mirrorPlans.ts';
import type { Handler } from '../handler.ts';
import { planBody } from './planBody.ts';

export const createPlan: Handler<'createPlan'> = {
  async prepare(request) {
    const store = await prepareNewPlan(request, request.body);
    return async (context) => context.reply(201, planBody(await store(context), context.runtime));
  },
};
