import { selectPlans } from '../../db/queries/billing/plans.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { planListItem } from './planBody.ts';

export const listPlans: Handler<'listPlans'> = async ({ query, db, workspaceId, runtime, reply }) => {
  const window = windowOf(query);
  const { rows, total } = await selectPlans(db, workspaceId, { status: query.status }, window);
  const items = rows.map((row) => planListItem(row, runtime));
  return reply(200, pageOf(items, total, window));
};
