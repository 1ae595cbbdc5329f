import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { Coupons, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { countRows, newestFirst, type Page, type PageOf } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { type PlanRow, plansWithCredits } from './plans.ts';

/** A discount on plans. */
export type CouponRow = Selectable<Coupons>;

function byId(db: Kysely<DB>, workspaceId: string, id: string) {
  return db
    .selectFrom('coupons')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey());
}

/** The coupon, if it exists and is not deleted. */
export function findCoupon(db: Kysely<DB>, workspaceId: string, id: string): Promise<CouponRow | undefined> {
  return byId(db, workspaceId, id).executeTakeFirst();
}

/** As `findCoupon`, locked until the transaction ends: nobody redeems it meanwhile. */
export function lockCoupon(trx: Transaction<DB>, workspaceId: string, id: string): Promise<CouponRow | undefined> {
  return byId(trx, workspaceId, id).forNoKeyUpdate().executeTakeFirst();
}

/** The coupon with this code, whatever its case, if it exists and is not deleted. */
export function findCouponByCode(db: Kysely<DB>, workspaceId: string, code: string): Promise<CouponRow | undefined> {
  return db
    .selectFrom('coupons')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where(sql`lower(code)`, '=', sql`lower(${code})`)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The plans of a coupon of scope `plans` that are not deleted, in the order in which they were given. */
export function selectCouponPlans(db: Kysely<DB>, workspaceId: string, couponId: string): Promise<PlanRow[]> {
  return plansWithCredits(db, workspaceId)
    .innerJoin('coupon_plans as o', (join) =>
      join.on('o.workspace_id', '=', workspaceId).onRef('o.plan_id', '=', 'p.id'),
    )
    .where('o.coupon_id', '=', couponId)
    .where('p.deleted_at', 'is', null)
    .orderBy('o.place')
    .execute();
}

/** A page of the coupons, newest first, each with the number of its plans that are not deleted. */
export async function selectCoupons(
  db: Kysely<DB>,
  workspaceId: string,
  filter: { active: boolean | undefined },
  page: Page,
): Promise<PageOf<CouponRow & { plans: number }>> {
  let matching = db.selectFrom('coupons').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (filter.active !== undefined) matching = matching.where('active', '=', filter.active);
  const rows = await matching
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('coupon_plans as o')
        .innerJoin('plans as p', (join) => join.on('p.workspace_id', '=', workspaceId).onRef('p.id', '=', 'o.plan_id'))
        .select(sql<number>`count(*)`.as('plans'))
        .where('o.workspace_id', '=', workspaceId)
        .whereRef('o.coupon_id', '=', 'coupons.id')
        .where('p.deleted_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('plans'),
    )
    .$call(newestFirst)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: await countRows(matching) };
}

/** Stores a coupon with its plans. Fails on `coupons_code_key` when the code is taken, whatever its case. */
export async function insertCoupon(
  trx: Transaction<DB>,
  row: Insertable<Coupons>,
  planIds: readonly string[],
): Promise<CouponRow> {
  const stored = await trx.insertInto('coupons').values(row).returningAll().executeTakeFirstOrThrow();
  const plans = planIds.map((plan_id, place) => ({
    workspace_id: row.workspace_id,
    coupon_id: row.id,
    plan_id,
    place,
  }));
  if (plans.length > 0) await trx.insertInto('coupon_plans').values(plans).execute();
  return stored;
}

/** Changes a coupon and returns it. Call `lockCoupon` before. */
export function updateCouponRow(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<Coupons>,
): Promise<CouponRow> {
  return trx
    .updateTable('coupons')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Marks the coupon as deleted. Returns whether there was one. */
export function softDeleteCoupon(trx: Transaction<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return softDelete(trx, 'coupons', { workspaceId, id }, now);
}

/**
 * Takes one use of the coupon with this code, if it may be redeemed for the plan at `now`; undefined if not. Redemptions at once take turns
 * on the row, and each sees the uses before it.
 */
export async function updateCouponUse(
  trx: Transaction<DB>,
  workspaceId: string,
  { code, planId, now }: { code: string; planId: string; now: Date },
): Promise<CouponRow | undefined> {
  return await trx
    .updateTable('coupons')
    .set((eb) => ({ times_used: eb('times_used', '+', 1) }))
    .where('workspace_id', '=', workspaceId)
    .where(sql`lower(code)`, '=', sql`lower(${code})`)
    .where('deleted_at', 'is', null)
    .where('active', '=', true)
    .where('valid_from', '<=', now)
    .where((eb) =>
      eb.and([
        eb.or([eb('valid_until', 'is', null), eb('valid_until', '>', now)]),
        eb.or([eb('max_uses', 'is', null), eb('times_used', '<', eb.ref('max_uses'))]),
        eb.or([
          eb('scope', '=', 'hub'),
          eb.exists(
            eb
              .selectFrom('coupon_plans as o')
              .select('o.plan_id')
              .where('o.workspace_id', '=', workspaceId)
              .whereRef('o.coupon_id', '=', 'coupons.id')
              .where('o.plan_id', '=', planId),
          ),
        ]),
      ]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Gives one use of a coupon back, deleted or not. */
export async function removeCouponUse(trx: Transaction<DB>, workspaceId: string, id: string): Promise<void> {
  await trx
    .updateTable('coupons')
    .set((eb) => ({ times_used: eb('times_used', '-', 1) }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('times_used', '>', 0)
    .execute();
}
