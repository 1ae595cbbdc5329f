import { fault } from '../../core/errors.ts';
import { type CouponRow, findCoupon, selectCouponPlans } from '../../db/queries/billing/coupons.ts';
import type { components } from '../../generated/api.ts';
import type { MirroredCoupon } from '../../integrations/payments/provider.ts';
import type { WorkspaceContext } from '../context.ts';
import { accountOf, findHubPayments, paymentsOf } from '../payments/paymentsOf.ts';
import { makeAtProvider, withIntent } from '../payments/withIntent.ts';
import { addCoupon, changeCoupon, dropCoupon, planCoupon } from './coupons.ts';
import { currencyDigits } from './currencies.ts';
import { rehearse, type StorePrepared, storeMade } from './mirrorPlans.ts';

type NewCoupon = components['schemas']['CouponCreate'];
type CouponChange = components['schemas']['CouponUpdate'];

/**
 * Makes the objects of a new coupon at the payment provider, if the hub has one, after a rehearsal of the rest has found nothing wrong. Returns what
 * stores the coupon; when that fails, the objects are removed. A coupon for plans none of which is at the provider has no objects. Throws what
 * `planCoupon` and `addCoupon` throw, and PAYMENT_PROVIDER_ERROR.
 */
export async function prepareNewCoupon(context: WorkspaceContext, body: NewCoupon): Promise<StorePrepared<CouponRow>> {
  const { workspaceId, clock } = context;
  const planned = planCoupon(body, { workspaceId, now: clock.now() });
  const hub = await findHubPayments(context.db, workspaceId);
  if (!accountOf(hub)) return (store) => addCoupon(store, planned);
  paymentsOf(context, hub);
  const mirrored = await rehearse(context.db, async (db) => {
    const coupon = await addCoupon({ db, workspaceId }, planned);
    const plans = await selectCouponPlans(db, workspaceId, coupon.id);
    return mirroredCoupon(
      coupon,
      plans.flatMap(({ provider_product_id: id }) => id ?? []),
    );
  });
  if (mirrored.productIds?.length === 0) return (store) => addCoupon(store, planned);
  const intended = { kind: 'coupon' as const, subjectId: planned.row.id, hub };
  const prepared = await makeAtProvider(context, intended, (provider, key) => provider.createCoupon(key, mirrored));
  return (store) =>
    storeMade(store, prepared, (objects) =>
      addCoupon(store, planned, {
        provider_coupon_id: objects?.couponId ?? null,
        provider_promotion_code_id: objects?.promotionCodeId ?? null,
      }),
    );
}

function mirroredCoupon(row: CouponRow, productIds: string[]): MirroredCoupon {
  const currency = row.currency;
  return {
    id: row.id,
    code: row.code,
    name: row.name,
    isActive: row.active,
    discount:
      currency === null
        ? { percent: row.discount_value }
        : { amountCents: row.discount_value, currency, currencyDigits: currencyDigits(currency) ?? 2 },
    duration: row.duration,
    durationMonths: row.duration_months,
    productIds: row.scope === 'plans' ? productIds : null,
    maxUses: row.max_uses,
    validUntil: row.valid_until,
  };
}

/**
 * Changes a coupon here, and whether its promotion code works at the payment provider, or neither. The provider fixes the limits of a promotion
 * code; those of the coupon are kept by its redemption here. Throws what `changeCoupon` throws, and PAYMENT_PROVIDER_ERROR.
 */
export async function changeMirroredCoupon(
  context: WorkspaceContext,
  id: string,
  body: CouponChange,
): Promise<CouponRow> {
  const { active } = body;
  const hub = await findHubPayments(context.db, context.workspaceId);
  const codeId = await promotionCodeOf(context, id);
  if (active === undefined || !codeId || !accountOf(hub)) return changeCoupon(context, id, body);
  await rehearse(context.db, (db) => changeCoupon({ ...context, db }, id, body));
  return withIntent(
    context,
    { kind: 'coupon', subjectId: id, hub },
    {
      make: (provider, key) => provider.setCouponActive(key, codeId, active),
      store: () => changeCoupon(context, id, body),
    },
  );
}

async function promotionCodeOf({ db, workspaceId }: WorkspaceContext, id: string): Promise<string | null> {
  const coupon = await findCoupon(db, workspaceId, id);
  if (!coupon) throw fault('COUPON_NOT_FOUND');
  return coupon.provider_promotion_code_id;
}

/** Deletes a coupon here and at the payment provider, or neither. Throws what `dropCoupon` throws, and PAYMENT_PROVIDER_ERROR. */
export async function dropMirroredCoupon(context: WorkspaceContext, id: string): Promise<void> {
  const hub = await findHubPayments(context.db, context.workspaceId);
  const coupon = await findCoupon(context.db, context.workspaceId, id);
  const { provider_coupon_id: couponId, provider_promotion_code_id: promotionCodeId } = coupon ?? {};
  if (!couponId || !promotionCodeId || !accountOf(hub)) return dropCoupon(context, id);
  await withIntent(
    context,
    { kind: 'coupon', subjectId: id, hub },
    {
      make: (provider, key) => provider.deleteCoupon(key, { couponId, promotionCodeId }),
      store: () => dropCoupon(context, id),
    },
  );
}
