import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { expectMissing, makeDeletedAgent } from '../../support/http/missing.ts';
import { contentOf, insertClient, makeCreditPackage, makePlan, readPlan } from '../../support/hub/plans.ts';
import { agentsOfPackage, rowsOfContent } from './plans.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function update(id: string, body: object, key?: string) {
  return app.api('patch', `/billing/plans/${id}`, key).send(body);
}

/** Asserts that the change gets the status and the code, and that nothing changes. */
async function expectRefused(id: string, change: object, status: number, code: string) {
  const before = [await readPlan(app, id), await rowsOfContent(app)];
  const answer = await update(id, { widgetTitle: 'New', ...change });
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect([await readPlan(app, id), await rowsOfContent(app)]).toEqual(before);
}

describe('200', () => {
  test('what is given changes, and the rest stays', async () => {
    const made = await makePlan(app);
    const change = {
      name: 'Changed',
      description: 'New.',
      status: 'inactive',
      priceCents: 5900,
      seatsIncluded: 9,
      unlimitedCredits: true,
      widgetTitle: 'T'.repeat(50),
      widgetDescription: 'D'.repeat(100),
      widgetCtaText: 'C'.repeat(30),
      widgetHighlighted: true,
      widgetFeatures: [{ included: false, text: '9 seats' }],
    };
    const { body } = await update(made.publicId, change).expect(200);
    expect(body).toEqual({ ...made, ...change, formattedPrice: '$59.00' });
    expect(await readPlan(app, made.publicId)).toEqual(body);
  });

  test('an empty body changes nothing; null takes the features away', async () => {
    const made = await makePlan(app);
    expect((await update(made.publicId, {}).expect(200)).body).toEqual(made);
    const widgetFeatures = [{ included: true, text: 'Everything' }];
    expect((await update(made.publicId, { widgetFeatures })).body).toEqual({ ...made, widgetFeatures });
    expect((await update(made.publicId, { widgetFeatures: null })).body).toEqual(made);
  });

  test('the largest numbers are stored unchanged', async () => {
    const most = 2_147_483_647;
    const credits = await makeCreditPackage(app);
    const { publicId } = await makePlan(app, { creditPackagePublicId: credits.publicId });
    const change = { priceCents: most, seatsIncluded: most, extraCreditsPriceCents: most, extraCreditsEnabled: true };
    expect((await update(publicId, change).expect(200)).body).toMatchObject(change);
  });

  test('the same price is no new price, also while the plan has subscribers', async () => {
    const { publicId, priceCents } = await makePlan(app);
    await insertClient(app.workspace, { plan_id: publicId });
    await update(publicId, { priceCents, name: `Same ${publicId}` }).expect(200);
  });

  test('content gives the plan a package of its own; the old one is removed when no plan uses it', async () => {
    const first = await makePlan(app);
    const second = await makePlan(app, { packagePublicId: first.hubPackage.publicId });
    const rows = await rowsOfContent(app);
    const content = await contentOf(app);
    const { body } = await update(first.publicId, { content }).expect(200);
    expect(body.hubPackage).toEqual({ publicId: expect.any(String), name: first.name });
    expect(body.hubPackage.publicId).not.toBe(first.hubPackage.publicId);
    expect(await agentsOfPackage(app, body.hubPackage.publicId)).toEqual([content.agents[0]?.agentPublicId]);
    expect((await readPlan(app, second.publicId)).hubPackage).toEqual(first.hubPackage);
    expect(await rowsOfContent(app)).toEqual([(rows[0] ?? 0) + 1, (rows[1] ?? 0) + 1, rows[2]]);
    await update(second.publicId, { packagePublicId: body.hubPackage.publicId }).expect(200);
    expect(await rowsOfContent(app)).toEqual(rows);
  });

  test('when the last plan leaves a package and another plan takes it at once, the other has it or is told that it is gone', async () => {
    const content = await contentOf(app);
    for (let round = 0; round < 6; round++) {
      const [first, second] = [await makePlan(app), await makePlan(app)];
      const packagePublicId = first.hubPackage.publicId;
      const [left, taken] = await Promise.all([
        update(first.publicId, { content }),
        update(second.publicId, { packagePublicId }),
      ]);
      expect(left.status).toBe(200);
      if (taken.status === 200) expect(await agentsOfPackage(app, packagePublicId)).toHaveLength(1);
      else expect([taken.body.code, await agentsOfPackage(app, packagePublicId)]).toEqual(['PACKAGE_NOT_FOUND', []]);
    }
  });

  test('present subscribers get unlimited and extra credits at once, and lose extra credits at once', async () => {
    const credits = await makeCreditPackage(app);
    const { publicId } = await makePlan(app, { creditPackagePublicId: credits.publicId });
    const clientId = await insertClient(app.workspace, { plan_id: publicId });
    const { db, workspaceId } = app.workspace;
    const account = { workspace_id: workspaceId, client_id: clientId, is_unlimited: false, may_use_extra: false };
    await db.insertInto('credit_accounts').values(account).execute();
    const terms = async (change: object) => {
      await update(publicId, change).expect(200);
      const { is_unlimited, may_use_extra } = await db
        .selectFrom('credit_accounts')
        .select(['is_unlimited', 'may_use_extra'])
        .where('client_id', '=', clientId)
        .executeTakeFirstOrThrow();
      return [is_unlimited, may_use_extra];
    };
    expect(await terms({ extraCreditsEnabled: true, extraCreditsPriceCents: 100 })).toEqual([false, true]);
    expect(await terms({ unlimitedCredits: true, extraCreditsEnabled: false })).toEqual([true, false]);
    expect(await terms({ unlimitedCredits: false })).toEqual([true, false]);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    { currency: 'EUR' },
    { billingType: 'one_time' },
    { billingIntervalMonths: 2 },
    { visible: false },
    { priceCents: -1 },
    { priceCents: 2_147_483_648 },
    { seatsIncluded: 0 },
    { extraCreditsPriceCents: 0 },
    { name: 'ab' },
    { status: 'deleted' },
    { widgetTitle: 'a'.repeat(51) },
    { widgetDescription: 'a'.repeat(101) },
    { widgetCtaText: 'a'.repeat(31) },
    { widgetFeatures: [{ text: 'Everything' }] },
    { packagePublicId: newId(), content: { agents: [{ agentPublicId: newId() }], pages: ['home'] } },
  ])('%j: nothing changes', async (change) => {
    const { publicId } = await makePlan(app);
    await expectRefused(publicId, change, 400, 'VALIDATION_ERROR');
  });
});

describe('404', () => {
  test('PLAN_NOT_FOUND: an unknown plan, a deleted one and another workspace’s, which stays as it is', async () => {
    const deleted = await makePlan(app);
    await app.api('delete', `/billing/plans/${deleted.publicId}`).expect(204);
    const foreign = await makePlan(app, {}, app.stranger.apiKey);
    const ask = (id: string) => update(id, { name: 'Nowhere' });
    await expectMissing('PLAN_NOT_FOUND', ask, [deleted.publicId, foreign.publicId]);
    const { body } = await app.api('get', `/billing/plans/${foreign.publicId}`, app.stranger.apiKey);
    expect(body).toEqual(foreign);
  });

  test('what the plan is to refer to: unknown, deleted or of another workspace', async () => {
    const { publicId } = await makePlan(app);
    const foreign = await makePlan(app, {}, app.stranger.apiKey);
    const foreignAgent = await makeAgent(app, {}, app.stranger.apiKey);
    const foreignCredits = await makeCreditPackage(app, {}, app.stranger.apiKey);
    for (const packagePublicId of [newId(), foreign.hubPackage.publicId])
      await expectRefused(publicId, { packagePublicId }, 404, 'PACKAGE_NOT_FOUND');
    for (const creditPackagePublicId of [newId(), foreignCredits.publicId])
      await expectRefused(publicId, { creditPackagePublicId }, 404, 'CREDIT_PACKAGE_NOT_FOUND');
    for (const agentPublicId of [newId(), await makeDeletedAgent(app), foreignAgent.publicId])
      await expectRefused(
        publicId,
        { content: { agents: [{ agentPublicId }], pages: ['home'] } },
        404,
        'AGENT_NOT_FOUND',
      );
    const content = { ...(await contentOf(app)), externalLinkPublicIds: [newId()] };
    await expectRefused(publicId, { content }, 404, 'EXTERNAL_LINK_NOT_FOUND');
  });
});

describe('409', () => {
  test('PLAN_NAME_TAKEN: the name of another plan, whatever its case', async () => {
    const [{ publicId }, other] = [await makePlan(app), await makePlan(app)];
    await expectRefused(publicId, { name: other.name.toUpperCase() }, 409, 'PLAN_NAME_TAKEN');
  });

  test.each(['active', 'trialing', 'past_due'] as const)(
    'PLAN_HAS_SUBSCRIBERS: a new price with a client that is %s',
    async (status) => {
      const { publicId } = await makePlan(app);
      await insertClient(app.workspace, { plan_id: publicId, status });
      await expectRefused(publicId, { priceCents: 1 }, 409, 'PLAN_HAS_SUBSCRIBERS');
    },
  );

  test('PLAN_HAS_SUBSCRIBERS: a new price with a client that changes to the plan later', async () => {
    const { publicId } = await makePlan(app);
    await insertClient(app.workspace, { pending_plan_id: publicId });
    await expectRefused(publicId, { priceCents: 1 }, 409, 'PLAN_HAS_SUBSCRIBERS');
  });

  test('clients that have ended do not fix the price', async () => {
    const { publicId } = await makePlan(app);
    for (const status of ['canceled', 'suspended', 'pending_onboarding'] as const)
      await insertClient(app.workspace, { plan_id: publicId, status });
    await update(publicId, { priceCents: 1 }).expect(200);
  });
});

describe('422 PLAN_RULE_VIOLATED', () => {
  test('extra credits without a price, or without a credit package', async () => {
    const credits = await makeCreditPackage(app);
    const { publicId } = await makePlan(app);
    await expectRefused(publicId, { extraCreditsEnabled: true }, 422, 'PLAN_RULE_VIOLATED');
    await expectRefused(publicId, { extraCreditsEnabled: true, extraCreditsPriceCents: 5 }, 422, 'PLAN_RULE_VIOLATED');
    const all = { extraCreditsEnabled: true, extraCreditsPriceCents: 5, creditPackagePublicId: credits.publicId };
    await update(publicId, all).expect(200);
  });

  test('a price for the default plan of a public hub; a private one may have it', async () => {
    const { publicId } = await makePlan(app, { priceCents: 0 });
    const access = (body: object) => app.api('patch', '/hub/access').send(body).expect(200);
    await access({ accessType: 'public', defaultPlanPublicId: publicId });
    await expectRefused(publicId, { priceCents: 1 }, 422, 'PLAN_RULE_VIOLATED');
    await update(publicId, { priceCents: 0 }).expect(200);
    await access({ accessType: 'private' });
    await update(publicId, { priceCents: 1 }).expect(200);
  });
});

test('checkoutUrl is a page of the hub for an active plan, and follows the subdomain', async () => {
  const { publicId, checkoutUrl } = await makePlan(app);
  expect(checkoutUrl).toBeNull();
  await app.api('get', '/hub').expect(200);
  const named = (subdomain: string) => app.workspace.db.updateTable('hubs').set({ subdomain }).execute();
  await named('acme');
  expect((await readPlan(app, publicId)).checkoutUrl).toBe(`${app.origin}/hub/acme/checkout/${publicId}`);
  await named('agents');
  expect((await update(publicId, {})).body.checkoutUrl).toBe(`${app.origin}/hub/agents/checkout/${publicId}`);
  expect((await update(publicId, { status: 'inactive' })).body.checkoutUrl).toBeNull();
});

test('the price is written in the locale of the hub', async () => {
  const { publicId } = await makePlan(app, { currency: 'EUR' });
  await app.api('get', '/hub').expect(200);
  await app.workspace.db.updateTable('hubs').set({ locale: 'de-DE' }).execute();
  expect((await readPlan(app, publicId)).formattedPrice).toMatch(/^49,00\s€$/);
});
