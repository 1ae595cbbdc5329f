import { makeAgent } from '../../support/agents/agents.ts';
import { makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const list = (agentId: string) => app.api('get', `/agents/${agentId}/automations`);

test('200: the automations of the agent, active or not, newest first', async () => {
  const [{ publicId }, other] = [await makeAgent(app), await makeAgent(app)];
  expect((await list(publicId)).body).toEqual([]);
  await makeAutomation(app, other.publicId);
  const first = await makeAutomation(app, publicId);
  const second = await makeAutomation(app, publicId, { triggerMode: 'schedule', schedule: '@daily' });
  const { body: inactive } = await app
    .api('patch', `/agents/${publicId}/automations/${second.publicId}`)
    .send({ status: 'inactive' });
  const { status, body } = await list(publicId);
  expect(status).toBe(200);
  expect(body).toEqual([inactive, first]);
});

test('400: an id that is no UUID', async () => {
  expect((await list('one')).body.code).toBe('VALIDATION_ERROR');
});

describeMissingAgent(() => app, list);
