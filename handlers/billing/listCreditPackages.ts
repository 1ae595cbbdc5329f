import { selectCreditPackages } from '../../db/queries/billing/creditPackages.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { creditPackageListItem } from './creditPackageBody.ts';

export const listCreditPackages: Handler<'listCreditPackages'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { rows, total } = await selectCreditPackages(db, workspaceId, window);
  return reply(200, pageOf(rows.map(creditPackageListItem), total, window));
};
