import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { makeCoupon, readCoupon } from '../../support/hub/coupons.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

describe('200', () => {
  test('the coupon, which expires when its end has come', async () => {
    const made = await makeCoupon(app, { validUntil: new Date(clock.now().getTime() + 1000).toISOString() });
    expect(await readCoupon(app, made.publicId)).toEqual(made);
    clock.advance(999);
    expect(await readCoupon(app, made.publicId)).toMatchObject({ isExpired: false });
    clock.advance(1);
    expect(await readCoupon(app, made.publicId)).toMatchObject({ isExpired: true, active: true });
  });
});

describe('404 COUPON_NOT_FOUND', () => {
  test('an unknown coupon, a deleted one and another workspace’s get the same response', async () => {
    const deleted = await makeCoupon(app);
    await app.api('delete', `/billing/coupons/${deleted.publicId}`).expect(204);
    const foreign = await makeCoupon(app, {}, app.stranger.apiKey);
    const ask = (id: string) => app.api('get', `/billing/coupons/${id}`);
    await expectMissing('COUPON_NOT_FOUND', ask, [deleted.publicId, foreign.publicId]);
  });
});
