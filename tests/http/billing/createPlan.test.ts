import { newId } from '../../../core/ids.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makeDeletedAgent } from '../../support/http/missing.ts';
import { contentOf, insertClient, makeCreditPackage, makePlan, planFields, readPlan } from '../../support/hub/plans.ts';
import { agentsOfPackage, planNames, rowsOfContent } from './plans.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

function create(body: object, key?: string) {
  return app.api('post', '/billing/plans', key).send(body);
}

/** Asserts that the request gets the status and the code, and that nothing is stored. */
async function expectRefused(body: object, status: number, code: string) {
  const before = [await planNames(app), await rowsOfContent(app)];
  const answer = await create(body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect([await planNames(app), await rowsOfContent(app)]).toEqual(before);
  return answer.body;
}

describe('201', () => {
  test('the plan is active and without subscribers, and reads the same as in the response', async () => {
    const creditPackage = await makeCreditPackage(app, { extraCreditsAmount: 5 });
    const { createdAt: _created, updatedAt: _updated, ...ref } = creditPackage;
    const fields = planFields({
      name: 'Pro',
      description: 'For teams.',
      unlimitedCredits: true,
      extraCreditsEnabled: true,
      extraCreditsPriceCents: 1500,
      visible: false,
    });
    const content = await contentOf(app);
    const { status, body } = await create({ ...fields, creditPackagePublicId: creditPackage.publicId, content });
    expect(status).toBe(201);
    expect(body).toEqual({
      ...fields,
      publicId: expect.any(String),
      status: 'active',
      formattedPrice: '$49.00',
      activeSubscriptions: 0,
      checkoutUrl: null,
      creditPackage: ref,
      hubPackage: { publicId: expect.any(String), name: 'Pro' },
      widgetTitle: null,
      widgetDescription: null,
      widgetCtaText: null,
      widgetHighlighted: false,
      widgetFeatures: [],
      createdAt: clock.now().toISOString(),
    });
    expect(await readPlan(app, body.publicId)).toEqual(body);
  });

  test.each([
    {},
    { description: null, extraCreditsPriceCents: null, creditPackagePublicId: null },
    { unlimitedCredits: false, extraCreditsEnabled: false, visible: true },
  ])('what is absent: no description, no credits, visible (%j)', async (fields) => {
    expect(await makePlan(app, fields)).toMatchObject({
      description: null,
      creditPackage: null,
      unlimitedCredits: false,
      extraCreditsEnabled: false,
      extraCreditsPriceCents: null,
      visible: true,
    });
  });

  test.each([
    ['usd', 4900, 'USD', '$49.00'],
    ['jpy', 4900, 'JPY', '¥4,900'],
    ['Kwd', 4900, 'KWD', 'KWD 4.900'],
  ])(
    '%s %s: the currency is stored in capitals, the price is written with its digits',
    async (currency, priceCents, stored, text) => {
      const plan = await makePlan(app, { currency, priceCents });
      expect([plan.currency, plan.formattedPrice.replace(/\s/g, ' ')]).toEqual([stored, text]);
    },
  );

  test.each([
    { name: 'é'.repeat(100), priceCents: 2_147_483_647, seatsIncluded: 2_147_483_647, billingIntervalMonths: 36 },
    { name: 'abc', priceCents: 0, seatsIncluded: 1, billingIntervalMonths: 1 },
    { name: '🦊🦊🦊', billingType: 'one_time' as const, billingIntervalMonths: 0, description: '🦊'.repeat(500) },
  ])('values at their bounds are stored unchanged (%#)', async (fields) => {
    expect(await makePlan(app, fields)).toMatchObject(fields);
  });

  test('content becomes a package with its agents, pages, links and sections in their order', async () => {
    const agents = [await makeAgent(app), await makeAgent(app)].map(({ publicId }) => ({ agentPublicId: publicId }));
    const sectionOrdering = [
      { section: 'support' as const, displayOrder: 1 },
      { section: 'chat' as const, displayOrder: 7 },
    ];
    const pages = ['settings' as const, 'home' as const];
    const { hubPackage } = await makePlan(app, { content: { agents, pages, sectionOrdering } });
    const stored = await app.workspace.db
      .selectFrom('hub_packages')
      .select(['pages', 'section_ordering'])
      .where('id', '=', hubPackage.publicId)
      .executeTakeFirst();
    expect(stored).toEqual({ pages, section_ordering: ['support', 'chat'] });
    expect(await agentsOfPackage(app, hubPackage.publicId)).toEqual(agents.map(({ agentPublicId }) => agentPublicId));
  });

  test('an agent that is named twice, in upper and lower case, is in the package once', async () => {
    const { publicId } = await makeAgent(app);
    const agents = [publicId, publicId.toUpperCase()].map((agentPublicId) => ({ agentPublicId }));
    const { hubPackage } = await makePlan(app, { content: { agents, pages: ['home'] } });
    expect(await agentsOfPackage(app, hubPackage.publicId)).toEqual([publicId]);
  });

  test('a package is used again, under its own name', async () => {
    const first = await makePlan(app, { name: 'First of two' });
    const second = await makePlan(app, { packagePublicId: first.hubPackage.publicId });
    expect(second.hubPackage).toEqual(first.hubPackage);
  });
});

const content = { agents: [{ agentPublicId: newId() }], pages: ['home'] };
const packagePublicId = newId();

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['neither', {}, 'is required when content is left out', 'required'],
    ['both', { content, packagePublicId }, 'must be left out when content is given', 'not'],
  ])('%s of a package and a content', async (_what, fields, message, keyword) => {
    const { details } = await expectRefused(planFields(fields), 400, 'VALIDATION_ERROR');
    expect(details).toEqual([{ path: '/body/packagePublicId', message, keyword }]);
  });

  test.each([
    ['a name of two characters', { name: 'ab' }],
    ['a name of 101 characters', { name: 'a'.repeat(101) }],
    ['a name of spaces', { name: '    ' }],
    ['a price below zero', { priceCents: -1 }],
    ['a price over 2^31', { priceCents: 2_147_483_648 }],
    ['half a cent', { priceCents: 0.5 }],
    ['no seat', { seatsIncluded: 0 }],
    ['seats over 2^31', { seatsIncluded: 2_147_483_648 }],
    ['an interval below zero', { billingIntervalMonths: -1 }],
    ['an interval over three years', { billingIntervalMonths: 37 }],
    ['another type', { billingType: 'weekly' }],
    ['a currency of two letters', { currency: 'US' }],
    ['a currency of digits', { currency: '123' }],
    ['free extra credits', { extraCreditsPriceCents: 0 }],
    ['a description of 501 characters', { description: 'a'.repeat(501) }],
    ['a text of the widget', { widgetTitle: 'Pro' }],
    ['a status', { status: 'inactive' }],
    ['no agent', { content: { ...content, agents: [] }, packagePublicId: undefined }],
    ['no page', { content: { ...content, pages: [] }, packagePublicId: undefined }],
    ['an unknown page', { content: { ...content, pages: ['shop'] }, packagePublicId: undefined }],
  ])('%s: nothing is stored', async (_what, fields) => {
    await expectRefused(planFields({ packagePublicId, ...fields }), 400, 'VALIDATION_ERROR');
  });
});

describe('404', () => {
  test('AGENT_NOT_FOUND: an unknown agent, a deleted one and another workspace’s, also beside one that exists', async () => {
    const own = await makeAgent(app);
    const foreign = await makeAgent(app, {}, app.stranger.apiKey);
    for (const id of [newId(), await makeDeletedAgent(app), foreign.publicId]) {
      const agents = [own.publicId, id].map((agentPublicId) => ({ agentPublicId }));
      await expectRefused(planFields({ content: { agents, pages: ['home'] } }), 404, 'AGENT_NOT_FOUND');
    }
  });

  test('EXTERNAL_LINK_NOT_FOUND: a link that does not exist', async () => {
    const withLink = { ...(await contentOf(app)), externalLinkPublicIds: [newId()] };
    await expectRefused(planFields({ content: withLink }), 404, 'EXTERNAL_LINK_NOT_FOUND');
  });

  test('PACKAGE_NOT_FOUND: an unknown package and another workspace’s', async () => {
    const foreign = await makePlan(app, {}, app.stranger.apiKey);
    for (const id of [newId(), foreign.hubPackage.publicId])
      await expectRefused(planFields({ packagePublicId: id }), 404, 'PACKAGE_NOT_FOUND');
  });

  test('CREDIT_PACKAGE_NOT_FOUND: an unknown credit package, a deleted one and another workspace’s', async () => {
    const deleted = await makeCreditPackage(app);
    await app.api('delete', `/billing/credit-packages/${deleted.publicId}`).expect(204);
    const foreign = await makeCreditPackage(app, {}, app.stranger.apiKey);
    const ownContent = await contentOf(app);
    for (const creditPackagePublicId of [newId(), deleted.publicId, foreign.publicId])
      await expectRefused(planFields({ content: ownContent, creditPackagePublicId }), 404, 'CREDIT_PACKAGE_NOT_FOUND');
  });
});

describe('409 PLAN_NAME_TAKEN', () => {
  test('the name of another plan, whatever its case: not even a package is stored', async () => {
    await makePlan(app, { name: 'Équipe' });
    await expectRefused(planFields({ name: 'ÉQUIPE', content: await contentOf(app) }), 409, 'PLAN_NAME_TAKEN');
  });

  test('of requests at once exactly one gets it', async () => {
    const ownContent = await contentOf(app);
    const names = ['race', 'RACE', 'Race', 'rAcE'];
    const answers = await Promise.all(names.map((name) => create(planFields({ name, content: ownContent }))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('another workspace may use the name', async () => {
    await makePlan(app, { name: 'Shared name' });
    await makePlan(app, { name: 'Shared name' }, app.stranger.apiKey);
  });
});

describe('422 PLAN_RULE_VIOLATED', () => {
  test.each([
    ['a recurring plan without an interval', { billingIntervalMonths: 0 }],
    ['a currency that does not exist', { currency: 'XYZ' }],
    ['a former currency', { currency: 'DEM' }],
    ['gold', { currency: 'XAU' }],
    ['extra credits without a price', { extraCreditsEnabled: true, creditPackagePublicId: newId() }],
    ['extra credits without a credit package', { extraCreditsEnabled: true, extraCreditsPriceCents: 100 }],
  ])('%s', async (_what, fields) => {
    const body = planFields({ content: await contentOf(app), ...fields });
    await expectRefused(body, 422, 'PLAN_RULE_VIOLATED');
  });

  test('a section in two places', async () => {
    const sectionOrdering = [1, 2].map((displayOrder) => ({ section: 'chat', displayOrder }));
    const twice = { ...(await contentOf(app)), sectionOrdering };
    await expectRefused(planFields({ content: twice }), 422, 'PLAN_RULE_VIOLATED');
  });
});

test('active subscribers are the clients that are active, trialing or past due', async () => {
  const { publicId } = await makePlan(app);
  const statuses = ['active', 'trialing', 'past_due', 'canceled', 'pending_onboarding', 'suspended'] as const;
  for (const status of statuses) await insertClient(app.workspace, { plan_id: publicId, status });
  await insertClient(app.workspace, { plan_id: publicId, deleted_at: clock.now() });
  expect((await readPlan(app, publicId)).activeSubscriptions).toBe(3);
});
