import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { storePlan } from '../../support/hub/storedPlans.ts';
import { makeClientOf, usersWith } from './clients.ts';

type Item = components['schemas']['ClientListItem'];

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = async (query: Record<string, string | number> = {}, key?: string) =>
  (await app.api('get', '/clients', key).query(query).expect(200)).body as {
    items: Item[];
    total: number;
    totalPages: number;
  };
const names = async (query: Record<string, string | number>) =>
  (await list(query)).items.map(({ workspaceName }) => workspaceName);

describe('200', () => {
  test('what is shown of a client, and of one without a plan', async () => {
    const { apiKey, ...workspace } = await app.database.seedWorkspace();
    const planPublicId = await storePlan(workspace, { name: 'Growth', credits: { extra_credits_amount: 5 } });
    const bare = await makeClientOf(app, {}, apiKey);
    const full = await makeClientOf(
      app,
      { planPublicId, users: usersWith('admin', 'viewer'), creditsOverride: 8 },
      apiKey,
    );
    const agent = await makeAgent(app, {}, apiKey);
    for (const cost of [0.125, 1.111]) {
      await workspace.db
        .insertInto('conversations')
        .values({
          workspace_id: workspace.workspaceId,
          id: newId(),
          agent_id: agent.publicId,
          external_user_id: 'x',
          client_id: full.publicId,
          cost_usd: cost,
        })
        .execute();
    }
    const { items, total } = await list({}, apiKey);
    expect(total).toBe(2);
    expect(items).toEqual([
      {
        publicId: full.publicId,
        workspaceName: full.workspaceName,
        subscriptionStatus: 'active',
        planName: 'Growth',
        priceCents: 4900,
        creditsBalance: 8,
        creditsLimit: 105,
        extraCreditsBalance: 0,
        unlimitedCredits: false,
        seatsLimit: 3,
        usersCount: 2,
        totalCostCents: 124,
        createdAt: full.createdAt,
      },
      {
        publicId: bare.publicId,
        workspaceName: bare.workspaceName,
        subscriptionStatus: 'pending_onboarding',
        planName: null,
        priceCents: null,
        creditsBalance: 0,
        creditsLimit: null,
        extraCreditsBalance: 0,
        unlimitedCredits: false,
        seatsLimit: null,
        usersCount: 1,
        totalCostCents: 0,
        createdAt: bare.createdAt,
      },
    ]);
    expect((await list({}, app.stranger.apiKey)).total).toBe(0);
  });

  test('the text is found in the names of clients and users and in emails, in any case, and is no pattern', async () => {
    const user = (name: string, email: string) => ({ users: [{ name, email, role: 'admin' as const }] });
    await makeClientOf(app, { workspaceName: 'Zebra 100%', ...user('Ünal Öz', 'under_score@one.example') });
    await makeClientOf(app, { workspaceName: 'Yak', ...user('Bo zebra', 'underXscore@two.example') });
    const { publicId, users } = await makeClientOf(app, {
      workspaceName: 'Xerus',
      users: [...user('Cy', 'cy@zebra.example').users, ...usersWith('admin')],
    });
    expect(await names({ q: 'ZEBRA' })).toEqual(['Xerus', 'Yak', 'Zebra 100%']);
    expect(await names({ q: 'üNAL' })).toEqual(['Zebra 100%']);
    expect(await names({ q: '%' })).toEqual(['Zebra 100%']);
    expect(await names({ q: 'under_score' })).toEqual(['Zebra 100%']);
    expect(await names({ q: '\\' })).toEqual([]);
    expect((await list({ q: '' })).total).toBe((await list()).total);
    await app.api('delete', `/clients/${publicId}/users/${users[0]?.publicId}`).expect(200);
    expect(await names({ q: 'zebra' })).toEqual(['Yak', 'Zebra 100%']);
  });

  test('the status narrows the list, together with the text', async () => {
    const planPublicId = await storePlan(app.workspace);
    await makeClientOf(app, { workspaceName: 'Status one', planPublicId });
    await makeClientOf(app, { workspaceName: 'Status two' });
    expect(await names({ status: 'active', q: 'status' })).toEqual(['Status one']);
    expect(await names({ status: 'pending_onboarding', q: 'status' })).toEqual(['Status two']);
    expect(await names({ status: 'canceled', q: 'status' })).toEqual([]);
  });

  test('pages do not overlap, also of clients of one moment, and one beyond the last has the total', async () => {
    const { apiKey } = await app.database.seedWorkspace();
    for (let i = 0; i < 5; i += 1) await makeClientOf(app, {}, apiKey);
    const all = (await list({}, apiKey)).items.map(({ publicId }) => publicId);
    const paged: string[] = [];
    for (const page of [1, 2, 3])
      paged.push(...(await list({ page, limit: 2 }, apiKey)).items.map(({ publicId }) => publicId));
    expect(paged).toEqual(all);
    expect(await list({ page: 9, limit: 2 }, apiKey)).toMatchObject({ items: [], total: 5, totalPages: 3 });
  });
});

test.each([{ status: 'gone' }, { q: 'q'.repeat(201) }, { page: 0 }, { limit: 101 }])('400: %j', async (query) => {
  const { status, body } = await app.api('get', '/clients').query(query);
  expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
});
