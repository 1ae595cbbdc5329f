import { makeAgent } from '../../support/agents/agents.ts';
import { makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { describeMissingAutomation } from './missing.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const get = (agentId: string, id: string) => app.api('get', `/agents/${agentId}/automations/${id}`);

test('200: the automation, when it last ran and how, and when it runs next', async () => {
  const { publicId } = await makeAgent(app);
  const automation = await makeAutomation(app, publicId, { triggerMode: 'schedule', schedule: '@hourly' });
  expect((await get(publicId, automation.publicId)).body).toEqual(automation);
  const lastRunAt = '2026-11-22T10:00:00.000Z';
  await app.workspace.db
    .updateTable('automations')
    .set({ last_run_at: lastRunAt, last_run_status: 'COMPLETED' })
    .where('id', '=', automation.publicId)
    .execute();
  const { status, body } = await get(publicId.toUpperCase(), automation.publicId.toUpperCase());
  expect(status).toBe(200);
  expect(body).toEqual({ ...automation, lastRunAt, lastRunStatus: 'COMPLETED' });
});

describe('400', () => {
  test('an id that is no UUID', async () => {
    const { publicId } = await makeAgent(app);
    expect((await get(publicId, 'one')).body.code).toBe('VALIDATION_ERROR');
  });
});

describeMissingAgent(
  () => app,
  (agentId) => get(agentId, '00000000-0000-7000-8000-000000000000'),
);
describeMissingAutomation(() => app, get);
