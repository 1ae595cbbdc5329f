import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const PLAN = {
  name: 'Team',
  billingType: 'recurring',
  billingIntervalMonths: 1,
  priceCents: 4900,
  currency: 'EUR',
  seatsIncluded: 3,
};
const content = { agents: [{ agentPublicId: crypto.randomUUID() }], pages: ['home'] };
const packagePublicId = crypto.randomUUID();

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['neither', {}, 'is required when content is left out', 'required'],
    ['both', { content, packagePublicId }, 'must be left out when content is given', 'not'],
  ])('%s of a package and a content', async (_what, fields, message, keyword) => {
    const { body } = await app
      .api('post', '/billing/plans')
      .send({ ...PLAN, ...fields })
      .expect(400);
    expect(body.details).toEqual([{ path: '/body/packagePublicId', message, keyword }]);
  });

  test('both when a plan is changed', async () => {
    const path = `/billing/plans/${crypto.randomUUID()}`;
    const { body } = await app.api('patch', path).send({ content, packagePublicId }).expect(400);
    const message = 'must be left out when content is given';
    expect(body.details).toEqual([{ path: '/body/packagePublicId', message, keyword: 'not' }]);
  });
});

test.each([{ content }, { packagePublicId }])('either alone passes the schema (%#)', async (fields) => {
  await app
    .api('post', '/billing/plans')
    .send({ ...PLAN, ...fields })
    .expect(501);
});
