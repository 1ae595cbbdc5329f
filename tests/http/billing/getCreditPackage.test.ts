import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { makeCreditPackage } from '../../support/hub/plans.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('the package, after it was made', async () => {
    const made = await makeCreditPackage(app);
    const { body } = await app.api('get', `/billing/credit-packages/${made.publicId}`).expect(200);
    expect(body).toEqual(made);
  });
});

describe('404 CREDIT_PACKAGE_NOT_FOUND', () => {
  test('an unknown package, a deleted one and another workspace’s get the same response', async () => {
    const deleted = await makeCreditPackage(app);
    await app.api('delete', `/billing/credit-packages/${deleted.publicId}`).expect(204);
    const foreign = await makeCreditPackage(app, {}, app.stranger.apiKey);
    const ask = (id: string) => app.api('get', `/billing/credit-packages/${id}`);
    await expectMissing('CREDIT_PACKAGE_NOT_FOUND', ask, [deleted.publicId, foreign.publicId]);
  });
});
