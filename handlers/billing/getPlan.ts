import { shownPlan } from '../../domain/billing/plans.ts';
import type { Handler } from '../handler.ts';
import { planBody } from './planBody.ts';

export const getPlan: Handler<'getPlan'> = async ({ path, db, workspaceId, runtime, reply }) =>
  reply(200, planBody(await shownPlan(db, workspaceId, path.planPublicId), runtime));
