import { newId } from '../../../core/ids.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { couponFields, makeCoupon, readCoupon } from '../../support/hub/coupons.ts';
import { makeCreditPackage, makePlan } from '../../support/hub/plans.ts';

const clock = new TestClock();
const HOUR_MS = 3_600_000;
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const inHours = (hours: number) => new Date(clock.now().getTime() + hours * HOUR_MS).toISOString();

function create(body: object, key?: string) {
  return app.api('post', '/billing/coupons', key).send(body);
}

async function codes(): Promise<string[]> {
  const { body } = await app.api('get', '/billing/coupons?limit=100').expect(200);
  return body.items.map(({ code }: { code: string }) => code);
}

/** Asserts that the request gets the status and the code, and that nothing is stored. */
async function expectRefused(body: object, status: number, code: string) {
  const before = await codes();
  const answer = await create(body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await codes()).toEqual(before);
}

describe('201', () => {
  test('a percentage of every plan: valid from now on, unused, and it reads the same as in the response', async () => {
    const sent = couponFields({
      name: 'Autumn',
      duration: 'repeating',
      durationMonths: 3,
      maxUses: 100,
      validUntil: inHours(1),
    });
    const { status, body } = await create(sent);
    const now = clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      ...sent,
      publicId: expect.any(String),
      active: true,
      currency: null,
      applicablePlans: [],
      timesUsed: 0,
      validFrom: now,
      isExpired: false,
      isExhausted: false,
      providerCouponId: null,
      providerPromotionCodeId: null,
      createdAt: now,
      updatedAt: now,
    });
    expect(await readCoupon(app, body.publicId)).toEqual(body);
  });

  test('a fixed amount has the currency of its plans, which are shown in their order with all their credits', async () => {
    const most = 2_147_483_647;
    const credits = await makeCreditPackage(app, { creditsAmount: most, extraCreditsAmount: most });
    const one = await makePlan(app, { currency: 'jpy', creditPackagePublicId: credits.publicId });
    const two = await makePlan(app, { currency: 'JPY', priceCents: 0 });
    const applicablePlanIds = [two.publicId, one.publicId.toUpperCase(), one.publicId];
    const coupon = await makeCoupon(app, {
      discountType: 'fixed_amount',
      discountValue: 500,
      scope: 'plans',
      applicablePlanIds,
    });
    expect([coupon.currency, coupon.discountValue]).toEqual(['JPY', 500]);
    expect(coupon.applicablePlans).toEqual(
      [two, one].map(({ publicId, name, priceCents, currency, billingType, billingIntervalMonths }) => ({
        publicId,
        name,
        priceCents,
        currency,
        billingType,
        billingIntervalMonths,
        creditsIncluded: publicId === one.publicId ? 2 * most : 0,
      })),
    );
  });

  test('a percentage may be for plans of several currencies', async () => {
    const plans = [await makePlan(app, { currency: 'USD' }), await makePlan(app, { currency: 'EUR' })];
    const applicablePlanIds = plans.map(({ publicId }) => publicId);
    expect(await makeCoupon(app, { scope: 'plans', applicablePlanIds })).toMatchObject({ currency: null });
  });

  test.each([
    { code: 'a_1', discountValue: 1, maxUses: 1 },
    { code: 'A'.repeat(50), discountValue: 100, maxUses: 2_147_483_647, name: '🦊'.repeat(100) },
    { code: 'abc', duration: 'repeating' as const, durationMonths: 1, maxUses: null, validUntil: null, name: null },
    { code: 'ABCD', duration: 'repeating' as const, durationMonths: 36, applicablePlanIds: [] },
  ])('values at their bounds are stored unchanged (%#)', async (fields) => {
    const { applicablePlanIds: _ids, ...shown } = fields as typeof fields & { applicablePlanIds?: string[] };
    expect(await makeCoupon(app, fields)).toMatchObject(shown);
  });

  test('the largest fixed amount', async () => {
    const { publicId } = await makePlan(app);
    const fields = { discountType: 'fixed_amount' as const, discountValue: 2_147_483_647, scope: 'plans' as const };
    expect(await makeCoupon(app, { ...fields, applicablePlanIds: [publicId] })).toMatchObject(fields);
  });

  test('it may begin later', async () => {
    const validFrom = inHours(1);
    expect(await makeCoupon(app, { validFrom, validUntil: inHours(2) })).toMatchObject({ validFrom, isExpired: false });
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['a code of two characters', { code: 'AB' }],
    ['a code of 51 characters', { code: 'A'.repeat(51) }],
    ['a code with a dash', { code: 'TEN-OFF' }],
    ['a code with a letter of another alphabet', { code: 'TENОFF' }],
    ['no discount', { discountValue: 0 }],
    ['a discount over 2^31', { discountValue: 2_147_483_648 }],
    ['half a per cent', { discountValue: 12.5 }],
    ['another type', { discountType: 'free' }],
    ['another duration', { duration: 'weekly' }],
    ['another scope', { scope: 'SPECIFIC' }],
    ['no month', { duration: 'repeating', durationMonths: 0 }],
    ['37 months', { duration: 'repeating', durationMonths: 37 }],
    ['no use', { maxUses: 0 }],
    ['uses over 2^31', { maxUses: 2_147_483_648 }],
    ['a day without a time', { validUntil: '2099-01-01' }],
    ['a leap second', { validUntil: '2098-12-31T23:59:60Z' }],
    ['a year that cannot be stored', { validUntil: '+275760-09-13T00:00:00Z' }],
    ['a name of 101 characters', { name: 'a'.repeat(101) }],
    ['a plan that is no id', { scope: 'plans', applicablePlanIds: ['pro'] }],
    ['switched off', { active: false }],
  ])('%s: nothing is stored', async (_what, fields) => {
    await expectRefused(couponFields(fields), 400, 'VALIDATION_ERROR');
  });
});

describe('404 PLAN_NOT_FOUND', () => {
  test('an unknown plan and another workspace’s, also beside one that exists', async () => {
    const own = await makePlan(app);
    const foreign = await makePlan(app, {}, app.stranger.apiKey);
    for (const id of [newId(), foreign.publicId]) {
      const body = couponFields({ scope: 'plans', applicablePlanIds: [own.publicId, id] });
      await expectRefused(body, 404, 'PLAN_NOT_FOUND');
    }
  });
});

describe('409 COUPON_CODE_TAKEN', () => {
  test('the code of another coupon, whatever its case', async () => {
    await makeCoupon(app, { code: 'Welcome' });
    await expectRefused(couponFields({ code: 'WELCOME' }), 409, 'COUPON_CODE_TAKEN');
  });

  test('of requests at once exactly one gets it', async () => {
    const answers = await Promise.all(['race', 'RACE', 'Race', 'rAcE'].map((code) => create(couponFields({ code }))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('another workspace may use the code, and so may anybody after its coupon was deleted', async () => {
    const { publicId } = await makeCoupon(app, { code: 'SHARED' });
    await makeCoupon(app, { code: 'SHARED' }, app.stranger.apiKey);
    await app.api('delete', `/billing/coupons/${publicId}`).expect(204);
    await makeCoupon(app, { code: 'shared' });
  });
});

describe('422 COUPON_RULE_VIOLATED', () => {
  test.each([
    ['a percentage over 100', { discountValue: 101 }],
    ['repeating without months', { duration: 'repeating' }],
    ['months of a single payment', { duration: 'once', durationMonths: 3 }],
    ['months of all payments', { duration: 'forever', durationMonths: 3 }],
    ['plans without a list', { scope: 'plans' }],
    ['plans with an empty list', { scope: 'plans', applicablePlanIds: [] }],
    ['plans with no list', { scope: 'plans', applicablePlanIds: null }],
    ['a list for the whole hub', { applicablePlanIds: [newId()] }],
    ['a fixed amount without plans', { discountType: 'fixed_amount', discountValue: 500 }],
    ['an end in the past', { validUntil: '2001-01-01T00:00:00Z' }],
    ['an end before the start', { validFrom: '2098-01-01T00:00:00Z', validUntil: '2097-01-01T00:00:00Z' }],
  ])('%s', async (_what, fields) => {
    await expectRefused(couponFields(fields), 422, 'COUPON_RULE_VIOLATED');
  });

  test('an end that is now, or the same moment as the start', async () => {
    await expectRefused(couponFields({ validUntil: inHours(0) }), 422, 'COUPON_RULE_VIOLATED');
    const fields = { validFrom: inHours(1), validUntil: inHours(1) };
    await expectRefused(couponFields(fields), 422, 'COUPON_RULE_VIOLATED');
  });

  test('a fixed amount for plans of two currencies', async () => {
    const plans = [await makePlan(app, { currency: 'USD' }), await makePlan(app, { currency: 'EUR' })];
    const applicablePlanIds = plans.map(({ publicId }) => publicId);
    const body = couponFields({ discountType: 'fixed_amount', discountValue: 500, scope: 'plans', applicablePlanIds });
    await expectRefused(body, 422, 'COUPON_RULE_VIOLATED');
  });
});
