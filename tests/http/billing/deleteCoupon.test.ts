import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { makeCoupon } from '../../support/hub/coupons.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function remove(id: string) {
  return app.api('delete', `/billing/coupons/${id}`);
}

describe('204', () => {
  test('the coupon is gone', async () => {
    const { publicId } = await makeCoupon(app);
    expect((await remove(publicId)).status).toBe(204);
    await app.api('get', `/billing/coupons/${publicId}`).expect(404);
  });

  test('of deletions at once one finds it', async () => {
    const { publicId } = await makeCoupon(app);
    const answers = await Promise.all([1, 2, 3].map(() => remove(publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });
});

describe('404 COUPON_NOT_FOUND', () => {
  test('an unknown coupon, a deleted one and another workspace’s, which stays', async () => {
    const deleted = await makeCoupon(app);
    await remove(deleted.publicId).expect(204);
    const foreign = await makeCoupon(app, {}, app.stranger.apiKey);
    await expectMissing('COUPON_NOT_FOUND', remove, [deleted.publicId, foreign.publicId]);
    await app.api('get', `/billing/coupons/${foreign.publicId}`, app.stranger.apiKey).expect(200);
  });
});
