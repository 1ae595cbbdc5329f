import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeCoupon } from '../../support/hub/coupons.ts';
import { makePlan } from '../../support/hub/plans.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function list(query = '') {
  return app.api('get', `/billing/coupons${query}`).expect(200);
}

test('200: a page, newest first, without coupons of other workspaces and deleted ones; active and not', async () => {
  await makeCoupon(app, {}, app.stranger.apiKey);
  const plan = await makePlan(app);
  const one = await makeCoupon(app, { scope: 'plans', applicablePlanIds: [plan.publicId] });
  clock.advance(1000);
  const two = await makeCoupon(app);
  await app.api('patch', `/billing/coupons/${two.publicId}`).send({ active: false }).expect(200);
  clock.advance(1000);
  const deleted = await makeCoupon(app);
  await app.api('delete', `/billing/coupons/${deleted.publicId}`).expect(204);
  const items = [{ ...two, active: false }, one].map((coupon) => {
    const { applicablePlans, providerCouponId: _id, providerPromotionCodeId: _code, updatedAt: _at, ...item } = coupon;
    return { ...item, applicablePlansCount: applicablePlans.length };
  });
  expect((await list()).body).toEqual({ items, page: 1, limit: 20, total: 2, totalPages: 1 });
  expect((await list('?page=2&limit=1')).body).toMatchObject({ items: items.slice(1), total: 2, totalPages: 2 });
  expect((await list('?active=false')).body).toMatchObject({ items: items.slice(0, 1), total: 1 });
  expect((await list('?active=true')).body).toMatchObject({ items: items.slice(1), total: 1 });
});

test('400 VALIDATION_ERROR: a filter that is neither', async () => {
  await app.api('get', '/billing/coupons?active=maybe').expect(400);
});
