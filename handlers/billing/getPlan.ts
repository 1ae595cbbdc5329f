import { shownPlan } from '../../domain/billing/plans.ts';
import type { Handler } from '../handler.ts';
import { planBody } from './planBody.ts';

export const getPlan: Handler<'getPlan'> = async ({ path, db, workspaceId, reply }) =>
  reply(200, planBody(await shownPlan(db, workspaceId, path.planPublicId)));
