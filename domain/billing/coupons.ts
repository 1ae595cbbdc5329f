import type { Insertable, Kysely } from 'kysely';
import { fault, invalid } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import {
  type CouponRow,
  insertCoupon,
  lockCoupon,
  softDeleteCoupon,
  updateCouponRow,
} from '../../db/queries/billing/coupons.ts';
import { lockPlans } from '../../db/queries/billing/plans.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { components } from '../../generated/api.ts';
import type { Coupons, DB } from '../../generated/db.ts';
import { distinctIds } from './content.ts';
import { couponRuleFault } from './redemptions.ts';

type NewCoupon = components['schemas']['CouponCreate'];
type CouponChange = components['schemas']['CouponUpdate'];

/** What changes of coupons need from their caller. */
export interface CouponContext {
  db: Kysely<DB>;
  workspaceId: string;
  clock: { now(): Date };
}

/** What the payment provider has of a coupon. */
type CouponObjectColumns = Pick<CouponRow, 'provider_coupon_id' | 'provider_promotion_code_id'>;

/** A coupon that keeps the rules across its fields, as it is going to be stored, without the currency of a fixed amount. */
export interface PlannedCoupon {
  row: Omit<Insertable<Coupons>, 'currency'> & { id: string };
  planIds: string[];
}

/** Checks the rules across the fields of a new coupon. Throws COUPON_RULE_VIOLATED. */
export function planCoupon(body: NewCoupon, { workspaceId, now }: { workspaceId: string; now: Date }): PlannedCoupon {
  const planIds = distinctIds(body.applicablePlanIds ?? []);
  const months = body.durationMonths ?? null;
  const from = instantOf(body.validFrom, 'validFrom') ?? now;
  const until = instantOf(body.validUntil, 'validUntil') ?? null;
  if (body.discountType === 'percentage' && body.discountValue > 100)
    throw couponRuleFault('A percentage is at most 100.');
  if (body.duration === 'repeating' && months === null)
    throw couponRuleFault('A repeating discount needs durationMonths.');
  if (body.duration !== 'repeating' && months !== null)
    throw couponRuleFault('Only a repeating discount has durationMonths.');
  if (body.scope === 'plans' && planIds.length === 0)
    throw couponRuleFault('A coupon for plans needs applicablePlanIds.');
  if (body.scope === 'hub' && planIds.length > 0)
    throw couponRuleFault('A coupon for the whole hub has no applicablePlanIds.');
  if (body.discountType === 'fixed_amount' && body.scope === 'hub')
    throw couponRuleFault('A fixed amount needs applicablePlanIds, since an amount has the currency of its plans.');
  checkEnd(until, from, now);
  const row = {
    workspace_id: workspaceId,
    id: newId(),
    code: body.code,
    name: body.name ?? null,
    discount_type: body.discountType,
    discount_value: body.discountValue,
    duration: body.duration,
    duration_months: months,
    scope: body.scope,
    max_uses: body.maxUses ?? null,
    valid_from: from,
    valid_until: until,
    created_at: now,
    updated_at: now,
  };
  return { row, planIds };
}

/** The instant of a field. Leap seconds and offsets without minutes pass the schema and are no Date. */
function instantOf(text: string | null | undefined, name: string): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime()))
    throw invalid(`/body/${name}`, 'must be a date and time, as in RFC 3339', 'format');
  return instant;
}

function checkEnd(until: Date | null, from: Date, now: Date): void {
  if (until === null) return;
  if (until <= now) throw couponRuleFault('validUntil is not in the future.');
  if (until <= from) throw couponRuleFault('validUntil is not after validFrom.');
}

/**
 * Stores a coupon. Throws PLAN_NOT_FOUND, COUPON_RULE_VIOLATED for a fixed amount on plans of several currencies, and COUPON_CODE_TAKEN by
 * coupons_code_key (db/errors.ts).
 */
export function addCoupon(
  { db, workspaceId }: Pick<CouponContext, 'db' | 'workspaceId'>,
  { row, planIds }: PlannedCoupon,
  objects: Partial<CouponObjectColumns> = {},
): Promise<CouponRow> {
  return inTransaction(db, async (trx) => {
    const plans = planIds.length === 0 ? [] : await lockPlans(trx, workspaceId, planIds);
    if (plans.length < planIds.length) throw fault('PLAN_NOT_FOUND');
    const [currency = null, ...others] = new Set(plans.map((plan) => plan.currency));
    const isFixed = row.discount_type === 'fixed_amount';
    if (isFixed && others.length > 0) throw couponRuleFault('A fixed amount needs plans of one currency.');
    return insertCoupon(trx, { ...row, ...objects, currency: isFixed ? currency : null }, planIds);
  });
}

/** Changes what can be changed of a coupon. Throws COUPON_NOT_FOUND and COUPON_RULE_VIOLATED. */
export function changeCoupon(
  { db, workspaceId, clock }: CouponContext,
  id: string,
  { name, active, maxUses, validUntil }: CouponChange,
): Promise<CouponRow> {
  const until = instantOf(validUntil, 'validUntil');
  return inTransaction(db, async (trx) => {
    // Redemptions wait for the row, so that `timesUsed` does not pass the new `maxUses`.
    const coupon = await lockCoupon(trx, workspaceId, id);
    if (!coupon) throw fault('COUPON_NOT_FOUND');
    const now = clock.now();
    if (maxUses !== undefined && maxUses < coupon.times_used)
      throw couponRuleFault(`The coupon was redeemed ${coupon.times_used} times already.`);
    if (until) checkEnd(until, coupon.valid_from, now);
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(active === undefined ? {} : { active }),
      ...(maxUses === undefined ? {} : { max_uses: maxUses }),
      ...(until ? { valid_until: until } : {}),
    };
    if (Object.keys(change).length === 0) return coupon;
    return updateCouponRow(trx, workspaceId, id, { ...change, updated_at: now });
  });
}

/** Deletes a coupon; discounts that were granted stay. Throws COUPON_NOT_FOUND. */
export async function dropCoupon({ db, workspaceId, clock }: CouponContext, id: string): Promise<void> {
  const deleted = await inTransaction(db, (trx) => softDeleteCoupon(trx, workspaceId, id, clock.now()));
  if (!deleted) throw fault('COUPON_NOT_FOUND');
}
