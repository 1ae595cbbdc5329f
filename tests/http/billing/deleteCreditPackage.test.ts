import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { contentOf, makeCreditPackage, makePlan, planFields } from '../../support/hub/plans.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function remove(id: string, key?: string) {
  return app.api('delete', `/billing/credit-packages/${id}`, key);
}

describe('204', () => {
  test('the package is gone', async () => {
    const { publicId } = await makeCreditPackage(app);
    expect((await remove(publicId)).status).toBe(204);
    await app.api('get', `/billing/credit-packages/${publicId}`).expect(404);
  });
});

describe('404 CREDIT_PACKAGE_NOT_FOUND', () => {
  test('an unknown package, a deleted one and another workspace’s, which stays', async () => {
    const deleted = await makeCreditPackage(app);
    await remove(deleted.publicId).expect(204);
    const foreign = await makeCreditPackage(app, {}, app.stranger.apiKey);
    await expectMissing('CREDIT_PACKAGE_NOT_FOUND', remove, [deleted.publicId, foreign.publicId]);
    await app.api('get', `/billing/credit-packages/${foreign.publicId}`, app.stranger.apiKey).expect(200);
  });
});

describe('409 CREDIT_PACKAGE_IN_USE', () => {
  test('a package that a plan includes stays', async () => {
    const { publicId } = await makeCreditPackage(app);
    await makePlan(app, { creditPackagePublicId: publicId });
    const { status, body } = await remove(publicId);
    expect([status, body.code]).toEqual([409, 'CREDIT_PACKAGE_IN_USE']);
    await app.api('get', `/billing/credit-packages/${publicId}`).expect(200);
  });

  test('when a plan is made and its package deleted at once, either the plan has it or there is no plan', async () => {
    const content = await contentOf(app);
    const outcomes = [];
    for (let round = 0; round < 8; round++) {
      const { publicId } = await makeCreditPackage(app);
      const body = planFields({ content, creditPackagePublicId: publicId });
      const [made, removed] = await Promise.all([app.api('post', '/billing/plans').send(body), remove(publicId)]);
      outcomes.push(`${made.status} ${made.body.code ?? ''} ${removed.status}`.replace(/ +/g, ' '));
    }
    expect(['201 409', '404 CREDIT_PACKAGE_NOT_FOUND 204']).toEqual(expect.arrayContaining([...new Set(outcomes)]));
  });
});
