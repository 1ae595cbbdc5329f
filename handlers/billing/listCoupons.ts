import { selectCoupons } from '../../db/queries/billing/coupons.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { couponListItem } from './couponBody.ts';

export const listCoupons: Handler<'listCoupons'> = async ({ query, db, workspaceId, clock, reply }) => {
  const window = windowOf(query);
  const { rows, total } = await selectCoupons(db, workspaceId, { active: query.active }, window);
  const now = clock.now();
  return reply(
    200,
    pageOf(
      rows.map((row) => couponListItem(row, now)),
      total,
      window,
    ),
  );
};
