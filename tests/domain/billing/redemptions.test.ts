import { inTransaction } from '../../../db/transaction.ts';
import { discounted, redeemCoupon, returnRedemption } from '../../../domain/billing/redemptions.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeCoupon, readCoupon } from '../../support/hub/coupons.ts';
import { makePlan } from '../../support/hub/plans.ts';

const clock = new TestClock();
let app: TestApp;
let planId: string;
beforeAll(async () => {
  app = await startTestApp({ clock });
  planId = (await makePlan(app)).publicId;
});
afterAll(() => app.close());

function redeem(code: string, plan = planId) {
  const { db, workspaceId } = app.workspace;
  return inTransaction(db, (trx) => redeemCoupon(trx, workspaceId, { code, planId: plan, now: clock.now() }));
}

function giveBack(couponId: string) {
  const { db, workspaceId } = app.workspace;
  return inTransaction(db, (trx) => returnRedemption(trx, workspaceId, couponId));
}

const inMs = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();

test('of 50 redemptions at once, as many as maxUses says get one', async () => {
  const { publicId, code } = await makeCoupon(app, { maxUses: 10 });
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => redeem(code)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'COUPON_RULE_VIOLATED' });
  expect(await readCoupon(app, publicId)).toMatchObject({ timesUsed: 10, isExhausted: true });
});

test('a use that is given back can be taken again, and no more than were taken are given back', async () => {
  const { publicId, code } = await makeCoupon(app, { maxUses: 1 });
  await redeem(code);
  await expect(redeem(code)).rejects.toMatchObject({ message: 'The coupon is used up.' });
  await giveBack(publicId);
  await giveBack(publicId);
  expect(await readCoupon(app, publicId)).toMatchObject({ timesUsed: 0, isExhausted: false });
  await redeem(code);
});

test('a use of a transaction that fails is not taken', async () => {
  const { publicId, code } = await makeCoupon(app);
  const { db, workspaceId } = app.workspace;
  const failing = inTransaction(db, async (trx) => {
    await redeemCoupon(trx, workspaceId, { code, planId, now: clock.now() });
    throw new Error('The purchase fails.');
  });
  await expect(failing).rejects.toThrow('The purchase fails.');
  expect(await readCoupon(app, publicId)).toMatchObject({ timesUsed: 0 });
});

describe('a coupon is refused', () => {
  test('that is switched off', async () => {
    const { publicId, code } = await makeCoupon(app);
    await app.api('patch', `/billing/coupons/${publicId}`).send({ active: false }).expect(200);
    await expect(redeem(code)).rejects.toMatchObject({
      code: 'COUPON_RULE_VIOLATED',
      message: 'The coupon is switched off.',
    });
  });

  test('before its start and from its end on', async () => {
    const { code } = await makeCoupon(app, { validFrom: inMs(1000), validUntil: inMs(2000) });
    await expect(redeem(code)).rejects.toMatchObject({ message: 'The coupon is not valid yet.' });
    clock.advance(1000);
    await redeem(code);
    clock.advance(999);
    await redeem(code);
    clock.advance(1);
    await expect(redeem(code)).rejects.toMatchObject({ message: 'The coupon has expired.' });
  });

  test('for a plan that is not among its plans', async () => {
    const { code } = await makeCoupon(app, { scope: 'plans', applicablePlanIds: [planId] });
    const other = await makePlan(app);
    await expect(redeem(code, other.publicId)).rejects.toMatchObject({ message: 'The coupon is not for this plan.' });
    await redeem(code);
  });

  test('that does not exist, is deleted or of another workspace', async () => {
    const deleted = await makeCoupon(app);
    await app.api('delete', `/billing/coupons/${deleted.publicId}`).expect(204);
    const foreign = await makeCoupon(app, {}, app.stranger.apiKey);
    for (const code of ['NOBODY_HAS_IT', deleted.code, foreign.code])
      await expect(redeem(code)).rejects.toMatchObject({ code: 'COUPON_NOT_FOUND' });
  });
});

describe('a discount in whole cents', () => {
  test.each([
    [4900, 'percentage', 10, 4410],
    [4900, 'percentage', 100, 0],
    [999, 'percentage', 50, 499],
    [1, 'percentage', 50, 0],
    [1, 'percentage', 49, 1],
    [33, 'percentage', 1, 33],
    [50, 'percentage', 1, 49],
    [2_147_483_647, 'percentage', 99, 21_474_836],
    [0, 'percentage', 100, 0],
    [4900, 'fixed_amount', 500, 4400],
    [400, 'fixed_amount', 500, 0],
    [0, 'fixed_amount', 1, 0],
  ] as const)('%d less %s %d is %d', (price, discount_type, discount_value, left) => {
    expect(discounted(price, { discount_type, discount_value })).toBe(left);
  });
});
