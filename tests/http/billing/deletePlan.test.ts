import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { expectMissing } from '../../support/http/missing.ts';
import { makeCoupon, readCoupon } from '../../support/hub/coupons.ts';
import { insertClient, makeCreditPackage, makePlan } from '../../support/hub/plans.ts';
import { rowsOfContent } from './plans.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function remove(id: string) {
  return app.api('delete', `/billing/plans/${id}`);
}

describe('204', () => {
  test('the plan is gone with its package, and its name is free', async () => {
    const before = await rowsOfContent(app);
    const { publicId, name } = await makePlan(app);
    expect((await remove(publicId)).status).toBe(204);
    await app.api('get', `/billing/plans/${publicId}`).expect(404);
    expect((await app.api('get', '/billing/plans')).body.items).toEqual([]);
    expect(await rowsOfContent(app)).toEqual(before);
    await makePlan(app, { name });
  });

  test('a package that another plan uses, or a client of the plan, stays', async () => {
    const first = await makePlan(app);
    const second = await makePlan(app, { packagePublicId: first.hubPackage.publicId });
    const before = await rowsOfContent(app);
    await remove(first.publicId).expect(204);
    await insertClient(app.workspace, { plan_id: second.publicId, status: 'suspended' });
    await remove(second.publicId).expect(204);
    expect(await rowsOfContent(app)).toEqual(before);
  });

  test('a credit package is free of it', async () => {
    const credits = await makeCreditPackage(app);
    const { publicId } = await makePlan(app, { creditPackagePublicId: credits.publicId });
    await remove(publicId).expect(204);
    await app.api('delete', `/billing/credit-packages/${credits.publicId}`).expect(204);
  });

  test('coupons do not name it any more, and stay', async () => {
    const [gone, stays] = [await makePlan(app), await makePlan(app)];
    const applicablePlanIds = [gone.publicId, stays.publicId];
    const coupon = await makeCoupon(app, { scope: 'plans', applicablePlanIds });
    await remove(gone.publicId).expect(204);
    const { applicablePlans } = await readCoupon(app, coupon.publicId);
    expect(applicablePlans).toEqual(coupon.applicablePlans.slice(1));
    const { body } = await app.api('get', '/billing/coupons').expect(200);
    expect(body.items[0].applicablePlansCount).toBe(1);
  });

  test('of deletions at once one finds it', async () => {
    const { publicId } = await makePlan(app);
    const answers = await Promise.all([1, 2, 3].map(() => remove(publicId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });

  test('a private hub has no default plan then, and no trial', async () => {
    const { publicId } = await makePlan(app, { priceCents: 0 });
    await app.api('patch', '/hub/access').send({ defaultPlanPublicId: publicId }).expect(200);
    await app.workspace.db.updateTable('hubs').set({ trial_plan_id: publicId, trial_days: 14 }).execute();
    await remove(publicId).expect(204);
    expect((await app.api('get', '/hub/access').expect(200)).body.defaultPlan).toBeNull();
    const hub = await app.workspace.db.selectFrom('hubs').select(['trial_plan_id', 'trial_days']).executeTakeFirst();
    expect(hub).toEqual({ trial_plan_id: null, trial_days: null });
  });
});

describe('404 PLAN_NOT_FOUND', () => {
  test('an unknown plan, a deleted one and another workspace’s, which stays', async () => {
    const deleted = await makePlan(app);
    await remove(deleted.publicId).expect(204);
    const foreign = await makePlan(app, {}, app.stranger.apiKey);
    await expectMissing('PLAN_NOT_FOUND', remove, [deleted.publicId, foreign.publicId]);
    await app.api('get', `/billing/plans/${foreign.publicId}`, app.stranger.apiKey).expect(200);
  });
});

describe('409 PLAN_HAS_SUBSCRIBERS', () => {
  test.each(['active', 'trialing', 'past_due'] as const)('a plan with a client that is %s stays', async (status) => {
    const { publicId } = await makePlan(app);
    await insertClient(app.workspace, { plan_id: publicId, status });
    const answer = await remove(publicId);
    expect([answer.status, answer.body.code]).toEqual([409, 'PLAN_HAS_SUBSCRIBERS']);
    await app.api('get', `/billing/plans/${publicId}`).expect(200);
  });

  test('so does one that a client changes to later', async () => {
    const { publicId } = await makePlan(app);
    await insertClient(app.workspace, { pending_plan_id: publicId });
    expect((await remove(publicId)).body.code).toBe('PLAN_HAS_SUBSCRIBERS');
  });

  test('when a client gets the plan and the plan is deleted at once, no client is on a deleted plan', async () => {
    for (let round = 0; round < 6; round++) {
      const { publicId: planPublicId } = await makePlan(app);
      const body = {
        workspaceName: `Racer ${round}`,
        planPublicId,
        users: [{ name: 'Ada', email: 'ada@acme.example', role: 'admin' }],
      };
      const [client, plan] = await Promise.all([app.api('post', '/clients').send(body), remove(planPublicId)]);
      expect([
        [201, 409],
        [404, 204],
      ]).toContainEqual([client.status, plan.status]);
    }
  });
});

describe('422 PLAN_RULE_VIOLATED', () => {
  test('the default plan of a public hub stays', async () => {
    const { publicId } = await makePlan(app, { priceCents: 0 });
    await app.api('patch', '/hub/access').send({ accessType: 'public', defaultPlanPublicId: publicId }).expect(200);
    const answer = await remove(publicId);
    expect([answer.status, answer.body.code]).toEqual([422, 'PLAN_RULE_VIOLATED']);
    expect((await app.api('get', '/hub/access')).body.defaultPlan.publicId).toBe(publicId);
  });
});
