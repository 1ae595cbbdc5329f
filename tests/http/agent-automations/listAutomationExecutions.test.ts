import { newId } from '../../../core/ids.ts';
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

const list = (agentId: string, id: string, query = '') =>
  app.api('get', `/agents/${agentId}/automations/${id}/executions${query}`);

const START = Date.parse('2026-11-22T10:00:00.000Z');
const at = (minutes: number) => new Date(START + minutes * 60_000);

/** Stores executions of an automation, one a minute; the last one is the newest. */
async function store(automationId: string, executions: object[]): Promise<void> {
  const rows = executions.map((fields, minutes) => ({
    workspace_id: app.workspace.workspaceId,
    id: newId(),
    automation_id: automationId,
    triggered_by: 'schedule',
    conversation_id: newId(),
    started_at: at(minutes),
    ...fields,
  }));
  await app.workspace.db.insertInto('automation_executions').values(rows).execute();
}

describe('200', () => {
  test('the runs of the automation, newest first, with how long they took and why they failed', async () => {
    const { publicId } = await makeAgent(app);
    const automation = await makeAutomation(app, publicId);
    const other = await makeAutomation(app, publicId);
    await store(other.publicId, [{}]);
    const failed = { status: 'FAILED', error_code: 'AGENT_TIMEOUT', error_message: 'It took too long.' };
    await store(automation.publicId, [
      { status: 'COMPLETED', completed_at: at(0.5), triggered_by: 'manual' },
      { ...failed, completed_at: at(2), triggered_by: 'webhook:GITHUB_PUSH' },
      { ...failed, completed_at: at(2), is_skipped: true, slot: at(2), error_message: 'Skipped: too late.' },
      // It is tried again.
      { status: 'DISPATCHED', error_code: 'UNAVAILABLE', error_message: 'It failed once.', retry_at: at(9) },
      { status: 'RUNNING' },
    ]);
    const { status, body } = await list(publicId, automation.publicId);
    expect(status).toBe(200);
    const shown = (minutes: number, fields: object) => ({
      publicId: expect.any(String),
      status: 'FAILED',
      triggeredBy: 'schedule',
      startedAt: at(minutes).toISOString(),
      completedAt: null,
      durationMs: null,
      errorMessage: null,
      ...fields,
    });
    const end = { completedAt: at(2).toISOString() };
    expect(body).toEqual({
      items: [
        shown(4, { status: 'RUNNING' }),
        shown(3, { status: 'DISPATCHED' }),
        shown(2, { ...end, durationMs: 0, errorMessage: 'Skipped: too late.' }),
        shown(1, { ...end, durationMs: 60_000, errorMessage: 'It took too long.', triggeredBy: 'webhook:GITHUB_PUSH' }),
        shown(0, {
          status: 'COMPLETED',
          completedAt: at(0.5).toISOString(),
          durationMs: 30_000,
          triggeredBy: 'manual',
        }),
      ],
      page: 1,
      limit: 20,
      total: 5,
      totalPages: 1,
    });
  });

  test('pages and statuses', async () => {
    const { publicId } = await makeAgent(app);
    const automation = await makeAutomation(app, publicId);
    expect((await list(publicId, automation.publicId)).body).toMatchObject({ items: [], total: 0, totalPages: 0 });
    await store(
      automation.publicId,
      Array.from({ length: 5 }, (_, place) => (place % 2 === 0 ? {} : { status: 'COMPLETED', completed_at: at(9) })),
    );
    const second = await list(publicId, automation.publicId, '?page=2&limit=2');
    expect(second.body).toMatchObject({ page: 2, limit: 2, total: 5, totalPages: 3 });
    expect(second.body.items.map((item: { startedAt: string }) => item.startedAt)).toEqual([
      at(2).toISOString(),
      at(1).toISOString(),
    ]);
    expect((await list(publicId, automation.publicId, '?status=COMPLETED')).body).toMatchObject({ total: 2 });
    expect((await list(publicId, automation.publicId, '?status=FAILED')).body).toMatchObject({ items: [], total: 0 });
  });
});

test.each(['?page=0', '?limit=101', '?status=SKIPPED', '?status='])('400: %s', async (query) => {
  const { publicId } = await makeAgent(app);
  const automation = await makeAutomation(app, publicId);
  expect((await list(publicId, automation.publicId, query)).body.code).toBe('VALIDATION_ERROR');
});

describeMissingAgent(
  () => app,
  (agentId) => list(agentId, '00000000-0000-7000-8000-000000000000'),
);
describeMissingAutomation(
  () => app,
  (agentId, id) => list(agentId, id),
);
