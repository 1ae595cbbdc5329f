import { inTransaction } from '../../../db/transaction.ts';
import { redeemCoupon } from '../../../domain/billing/redemptions.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
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

const inMs = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();

function update(id: string, body: object, key?: string) {
  return app.api('patch', `/billing/coupons/${id}`, key).send(body);
}

function redeem(code: string) {
  const { db, workspaceId } = app.workspace;
  return inTransaction(db, (trx) => redeemCoupon(trx, workspaceId, { code, planId, now: clock.now() }));
}

describe('200', () => {
  test('name, active and the limits change; the rest stays', async () => {
    const made = await makeCoupon(app);
    clock.advance(1000);
    const change = { name: 'Spring', active: false, maxUses: 5, validUntil: inMs(1000) };
    const { body } = await update(made.publicId, change).expect(200);
    expect(body).toEqual({ ...made, ...change, updatedAt: clock.now().toISOString() });
    expect(await readCoupon(app, made.publicId)).toEqual(body);
  });

  test('an empty body changes nothing, not even updatedAt', async () => {
    const made = await makeCoupon(app);
    clock.advance(1000);
    expect((await update(made.publicId, {}).expect(200)).body).toEqual(made);
  });

  test('maxUses may be as low as timesUsed: then the coupon is exhausted', async () => {
    const made = await makeCoupon(app);
    await redeem(made.code);
    await redeem(made.code.toLowerCase());
    const { body } = await update(made.publicId, { maxUses: 2 }).expect(200);
    expect(body).toMatchObject({ timesUsed: 2, maxUses: 2, isExhausted: true });
    expect((await update(made.publicId, { maxUses: 2_147_483_647 })).body).toMatchObject({ isExhausted: false });
  });

  test('an expired coupon is valid again with a later end', async () => {
    const made = await makeCoupon(app, { validUntil: inMs(1000) });
    clock.advance(2000);
    expect(await readCoupon(app, made.publicId)).toMatchObject({ isExpired: true });
    expect((await update(made.publicId, { validUntil: inMs(1000) })).body).toMatchObject({ isExpired: false });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { code: 'OTHER' },
    { discountValue: 20 },
    { discountType: 'fixed_amount' },
    { duration: 'forever' },
    { durationMonths: 3 },
    { scope: 'plans' },
    { applicablePlanIds: [] },
    { validFrom: '2098-01-01T00:00:00Z' },
    { maxUses: 0 },
    { maxUses: 2_147_483_648 },
    { maxUses: null },
    { name: 'a'.repeat(101) },
    { active: 'no' },
    { validUntil: 'tomorrow' },
  ])('%j: nothing changes', async (change) => {
    const made = await makeCoupon(app);
    const { status, body } = await update(made.publicId, { name: 'New', ...change });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(await readCoupon(app, made.publicId)).toEqual(made);
  });
});

describe('404 COUPON_NOT_FOUND', () => {
  test('an unknown coupon, a deleted one and another workspace’s, which stays as it is', async () => {
    const deleted = await makeCoupon(app);
    await app.api('delete', `/billing/coupons/${deleted.publicId}`).expect(204);
    const foreign = await makeCoupon(app, {}, app.stranger.apiKey);
    const ask = (id: string) => update(id, { active: false });
    await expectMissing('COUPON_NOT_FOUND', ask, [deleted.publicId, foreign.publicId]);
    const { body } = await app.api('get', `/billing/coupons/${foreign.publicId}`, app.stranger.apiKey);
    expect(body).toEqual(foreign);
  });
});

describe('422 COUPON_RULE_VIOLATED', () => {
  test('maxUses below timesUsed, an end in the past, an end before the start: nothing changes', async () => {
    const made = await makeCoupon(app);
    await redeem(made.code);
    await redeem(made.code);
    const used = { ...made, timesUsed: 2 };
    const later = await makeCoupon(app, { validFrom: inMs(10_000) });
    for (const [coupon, change] of [
      [used, { maxUses: 1 }],
      [used, { validUntil: inMs(0) }],
      [later, { validUntil: inMs(10_000) }],
    ] as const) {
      const { status, body } = await update(coupon.publicId, { name: 'New', ...change });
      expect([status, body.code]).toEqual([422, 'COUPON_RULE_VIOLATED']);
      expect(await readCoupon(app, coupon.publicId)).toEqual(coupon);
    }
  });

  test('while others redeem, maxUses never ends below timesUsed', async () => {
    for (let round = 0; round < 5; round++) {
      const { publicId, code } = await makeCoupon(app);
      const redemptions = Array.from({ length: 6 }, () => redeem(code).catch(() => undefined));
      const [answer] = await Promise.all([update(publicId, { maxUses: 3 }), ...redemptions]);
      const { maxUses, timesUsed } = await readCoupon(app, publicId);
      if (answer.status === 200) expect(timesUsed).toBeLessThanOrEqual(maxUses ?? 0);
      else expect([answer.body.code, maxUses, timesUsed > 3]).toEqual(['COUPON_RULE_VIOLATED', null, true]);
    }
  });
});
