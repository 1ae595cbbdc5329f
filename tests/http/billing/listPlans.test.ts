import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { insertClient, makeCreditPackage, makePlan } from '../../support/hub/plans.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function list(query = '') {
  return app.api('get', `/billing/plans${query}`).expect(200);
}

describe('200', () => {
  test('a page, newest first, without plans of other workspaces', async () => {
    await makePlan(app, {}, app.stranger.apiKey);
    const creditPackage = await makeCreditPackage(app);
    const one = await makePlan(app, { creditPackagePublicId: creditPackage.publicId });
    clock.advance(1000);
    const two = await makePlan(app);
    const { body } = await list();
    const items = [two, one].map(({ creditPackage: credits, hubPackage, ...plan }) => ({
      ...plan,
      creditPackageName: credits?.name ?? null,
      packageName: hubPackage.name,
      agentsCount: 1,
      pagesCount: 1,
    }));
    expect(body).toEqual({ items, page: 1, limit: 20, total: 2, totalPages: 1 });
    expect((await list('?page=2&limit=1')).body).toEqual({
      items: items.slice(1),
      page: 2,
      limit: 1,
      total: 2,
      totalPages: 2,
    });
    expect((await list('?page=9')).body.items).toEqual([]);
    expect((await list('?status=active')).body.total).toBe(2);
    expect((await list('?status=inactive')).body).toMatchObject({ items: [], total: 0 });
  });

  test('agents are counted without deleted ones, which are deleted as ever', async () => {
    const agents = [await makeAgent(app), await makeAgent(app), await makeAgent(app)];
    const content = {
      agents: agents.map(({ publicId }) => ({ agentPublicId: publicId })),
      pages: ['home' as const, 'agents' as const],
    };
    const { publicId } = await makePlan(app, { content });
    const counted = async () => {
      const { body } = await list('?limit=100');
      return body.items.find((item: { publicId: string }) => item.publicId === publicId);
    };
    expect(await counted()).toMatchObject({ agentsCount: 3, pagesCount: 2 });
    const left = [2, 1, 0];
    for (const agent of agents) {
      await app.api('delete', `/agents/${agent.publicId}`).expect(204);
      expect((await counted()).agentsCount).toBe(left.shift());
    }
    await app.api('get', `/billing/plans/${publicId}`).expect(200);
  });

  test('subscribers are counted when they come at once', async () => {
    const { publicId } = await makePlan(app);
    await Promise.all(Array.from({ length: 10 }, () => insertClient(app.workspace, { plan_id: publicId })));
    const { body } = await list('?limit=1');
    expect(body.items[0]).toMatchObject({ publicId, activeSubscriptions: 10 });
  });
});

test('400 VALIDATION_ERROR: an unknown status', async () => {
  const { body } = await app.api('get', '/billing/plans?status=deleted').expect(400);
  expect(body.code).toBe('VALIDATION_ERROR');
});
