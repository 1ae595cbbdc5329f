import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { contentOf, makeCreditPackage, makePlan, planFields } from '../../support/hub/plans.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function list(query = '', key?: string) {
  return app.api('get', `/billing/credit-packages${query}`, key).expect(200);
}

async function plansUsing(id: string): Promise<number> {
  const { body } = await list('?limit=100');
  return body.items.find(({ publicId }: { publicId: string }) => publicId === id).plansUsingCount;
}

describe('200', () => {
  test('a page, newest first, without packages of other workspaces and deleted ones', async () => {
    await makeCreditPackage(app, {}, app.stranger.apiKey);
    const one = await makeCreditPackage(app);
    clock.advance(1000);
    const two = await makeCreditPackage(app);
    clock.advance(1000);
    const deleted = await makeCreditPackage(app);
    await app.api('delete', `/billing/credit-packages/${deleted.publicId}`).expect(204);
    const { body } = await list();
    const items = [two, one].map(({ updatedAt: _, ...item }) => ({ ...item, plansUsingCount: 0 }));
    expect(body).toEqual({ items, page: 1, limit: 20, total: 2, totalPages: 1 });
    expect((await list('?page=2&limit=1')).body).toEqual({
      items: items.slice(1),
      page: 2,
      limit: 1,
      total: 2,
      totalPages: 2,
    });
    expect((await list('?page=3&limit=1')).body.items).toEqual([]);
  });

  test('plansUsingCount counts the plans that exist, also those that were made at once', async () => {
    const { publicId: creditPackagePublicId } = await makeCreditPackage(app);
    const content = await contentOf(app);
    const bodies = Array.from({ length: 6 }, () => planFields({ content, creditPackagePublicId }));
    const answers = await Promise.all(bodies.map((body) => app.api('post', '/billing/plans').send(body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(await plansUsing(creditPackagePublicId)).toBe(6);
    await makePlan(app);
    expect(await plansUsing(creditPackagePublicId)).toBe(6);
  });
});
