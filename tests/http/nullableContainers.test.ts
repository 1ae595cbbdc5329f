import type { OperationId } from '../../generated/operations.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest } from '../support/http/exampleRequest.ts';

/** Lists and maps that a body may leave out take `null`: generated clients of typed languages send it for what nobody has set. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test.each<[OperationId, object]>([
  ['createAutomation', { triggerConfig: null }],
  ['updateAutomation', { triggerConfig: null }],
  ['configureChannel', { channelSpecificConfig: null, credentials: null }],
  ['createCoupon', { applicablePlanIds: null }],
  ['updatePlan', { widgetFeatures: null }],
])('%s accepts %j', async (id, fields) => {
  const { method, path, body } = exampleRequest(id);
  const answer = await app.api(method, path).send({ ...(body as object), ...fields });
  expect([answer.status, answer.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
});

test('createPlan accepts a content whose lists are null', async () => {
  const content = {
    agents: [{ agentPublicId: crypto.randomUUID() }],
    pages: ['home'],
    externalLinkPublicIds: null,
    sectionOrdering: null,
  };
  const { packagePublicId: _package, ...body } = exampleRequest('createPlan').body as Record<string, unknown>;
  const answer = await app.api('post', '/billing/plans').send({ ...body, content });
  expect([answer.status, answer.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
});
