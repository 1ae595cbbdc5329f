import type { OperationId } from '../../generated/operations.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest } from '../support/http/exampleRequest.ts';

/** Lists and maps that a body may leave out take `null`: generated clients of typed languages send it for what nobody has set. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

// The body is read before the agent of the example, which does not exist, is looked for.
const SERVED = [404, 'AGENT_NOT_FOUND'];

test.each<[OperationId, object, (string | number)[]]>([
  ['createAutomation', { triggerConfig: null }, SERVED],
  ['updateAutomation', { triggerConfig: null }, SERVED],
  ['configureChannel', { channelSpecificConfig: null, credentials: null }, SERVED],
  ['createCoupon', { applicablePlanIds: null, validUntil: null }, [201, 'WELCOME20']],
  ['updatePlan', { widgetFeatures: null }, [404, 'PLAN_NOT_FOUND']],
])('%s accepts %j', async (id, fields, outcome) => {
  const { method, path, body } = exampleRequest(id);
  const answer = await app.api(method, path).send({ ...(body as object), ...fields });
  expect([answer.status, answer.body.code]).toEqual(outcome);
});

test('createPlan accepts a content whose lists are null', async () => {
  const content = {
    agents: [{ agentPublicId: crypto.randomUUID() }],
    pages: ['home'],
    externalLinkPublicIds: null,
    sectionOrdering: null,
  };
  const {
    packagePublicId: _package,
    creditPackagePublicId: _credits,
    ...example
  } = exampleRequest('createPlan').body as Record<string, unknown>;
  const body = { ...example, extraCreditsEnabled: false };
  const answer = await app.api('post', '/billing/plans').send({ ...body, content });
  expect([answer.status, answer.body.code]).toEqual([404, 'AGENT_NOT_FOUND']);
});
