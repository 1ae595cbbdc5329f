import { makeAgent } from '../../support/agents/agents.ts';
import { addressOf, listAutomations, makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { describeMissingAutomation } from './missing.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const remove = (agentId: string, id: string) => app.api('delete', `/agents/${agentId}/automations/${id}`);

/** What is left of automations that nothing may start any more. */
async function expectEnded(ids: string[]) {
  const rows = await app.workspace.db.selectFrom('automations').selectAll().where('id', 'in', ids).execute();
  expect(rows).toHaveLength(ids.length);
  for (const row of rows) {
    expect(row).toMatchObject({ next_run_at: null, due_at: null, trigger_secrets: null, deleted_at: expect.any(Date) });
  }
  const addresses = app.workspace.db.selectFrom('public_addresses').selectAll().where('target_id', 'in', ids);
  expect(await addresses.execute()).toEqual([]);
}

const MODES = [
  { triggerMode: 'schedule', schedule: '* * * * *' },
  { triggerMode: 'webhook_url' },
  {
    triggerMode: 'webhook',
    triggerToolkitSlug: 'github',
    triggerSlug: 'GITHUB_STAR',
    triggerConfig: { signingSecret: 'a-secret-that-goes-away' },
  },
];

describe('204', () => {
  test.each(MODES)(
    '%j: its schedule, its address and its secrets are gone, and another automation stays',
    async (fields) => {
      const { publicId } = await makeAgent(app);
      const automation = await makeAutomation(app, publicId, fields);
      const other = await makeAutomation(app, publicId);
      await remove(publicId, automation.publicId).expect(204);
      expect(await listAutomations(app, publicId)).toEqual([other]);
      await expectEnded([automation.publicId]);
      expect((await remove(publicId, automation.publicId)).body.code).toBe('AUTOMATION_NOT_FOUND');
    },
  );

  test('the deletion of the agent ends all its automations at once, and those of no other agent', async () => {
    const [{ publicId }, other] = [await makeAgent(app), await makeAgent(app)];
    const automations = [];
    for (const fields of MODES) automations.push(await makeAutomation(app, publicId, fields));
    const kept = await makeAutomation(app, other.publicId, { triggerMode: 'schedule', schedule: '* * * * *' });
    const address = addressOf(app, automations[1] as (typeof automations)[0]);
    await app.api('delete', `/agents/${publicId}`).expect(204);
    await expectEnded(automations.map((automation) => automation.publicId));
    expect((await app.raw.post(address).send({})).body.code).toBe('AUTOMATION_NOT_FOUND');
    expect(await listAutomations(app, other.publicId)).toEqual([kept]);
  });
});

describe('400', () => {
  test('an id that is no UUID', async () => {
    const { publicId } = await makeAgent(app);
    expect((await remove(publicId, 'one')).body.code).toBe('VALIDATION_ERROR');
  });
});

describeMissingAgent(
  () => app,
  (agentId) => remove(agentId, '00000000-0000-7000-8000-000000000000'),
);
describeMissingAutomation(() => app, remove);
