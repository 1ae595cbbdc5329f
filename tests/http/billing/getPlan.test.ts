import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { makePlan } from '../../support/hub/plans.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('200', () => {
  test('the plan, after it was made', async () => {
    const made = await makePlan(app);
    expect((await app.api('get', `/billing/plans/${made.publicId}`).expect(200)).body).toEqual(made);
  });
});

describe('404 PLAN_NOT_FOUND', () => {
  test('an unknown plan and another workspace’s get the same response', async () => {
    const foreign = await makePlan(app, {}, app.stranger.apiKey);
    await expectMissing('PLAN_NOT_FOUND', (id) => app.api('get', `/billing/plans/${id}`), [foreign.publicId]);
  });
});
