import { newId } from '../../core/ids.ts';
import { makeAgent } from '../support/agents/agents.ts';
import { addressOf, makeAutomation } from '../support/automations/automations.ts';
import { startTestApp, type TestApp, TestClock } from '../support/http/app.ts';
import { until } from '../support/poll.ts';
import { admin, adminJson } from '../support/scripts/admin.ts';

const DAY_MS = 86_400_000;
const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock, jobs: true });
});
afterAll(() => app.close());

const url = () => ({ url: app.database.url });

async function automationOf(fields: object = {}) {
  const { publicId: agentId } = await makeAgent(app);
  const automation = await makeAutomation(app, agentId, fields);
  return { agentId, automation, id: automation.publicId };
}

test('list shows the automations of all workspaces, or of one', async () => {
  const { agentId, id, automation } = await automationOf({ triggerMode: 'schedule', schedule: '@daily' });
  const theirAgent = await makeAgent(app, {}, app.stranger.apiKey);
  const theirs = await makeAutomation(app, theirAgent.publicId, {}, app.stranger.apiKey);
  const idsOf = (rows: { automationPublicId: string }[]) => rows.map((row) => row.automationPublicId);
  expect(idsOf(await adminJson(url(), 'automation', 'list'))).toEqual(expect.arrayContaining([id, theirs.publicId]));
  const own = await adminJson(url(), 'automation', 'list', '--workspace', app.workspace.workspaceId);
  expect(idsOf(own)).not.toContain(theirs.publicId);
  expect(own).toContainEqual(
    expect.objectContaining({
      automationPublicId: id,
      agentPublicId: agentId,
      triggerMode: 'schedule',
      nextRunAt: automation.nextRunAt,
    }),
  );
  const { stdout } = await admin(url(), 'automation', 'list');
  expect(stdout).toContain('@daily (UTC)');
});

test('run dispatches an execution, which a running service takes up at once; show prints it', async () => {
  // The agent is not published: it ends soon, and nobody need answer for a model.
  const { id } = await automationOf();
  const { executionPublicId, status } = await adminJson(url(), 'automation', 'run', id);
  expect(status).toBe('DISPATCHED');
  const [execution] = await until(async () => {
    const { executions } = await adminJson(url(), 'automation', 'show', id);
    return executions[0]?.status === 'FAILED' && executions;
  });
  expect(execution).toMatchObject({ executionPublicId, triggeredBy: 'manual' });
  expect(execution.errorMessage).toContain('AGENT_NOT_PUBLISHED');
  expect((await admin(url(), 'automation', 'show', id)).stdout).toContain('AGENT_NOT_PUBLISHED');
});

test('rotate shows a new address once; the old one works for a day more', async () => {
  const { agentId, id, automation } = await automationOf({ triggerMode: 'webhook_url' });
  const old = addressOf(app, automation);
  const env = { env: { DATABASE_URL: app.database.url, GUILDHALL_PUBLIC_URL: 'https://agents.example.com' } };
  const { webhookUrl } = await adminJson(env, 'automation', 'rotate', id);
  expect(webhookUrl).toMatch(/^https:\/\/agents\.example\.com\/hooks\/automations\/[0-9a-f]{40}$/);
  const fresh = new URL(webhookUrl).pathname;
  const status = async (path: string) => (await app.raw.post(path).send({ a: 1 })).status;
  // The command has the clock of the machine, and the service another one.
  const addresses = app.workspace.db.selectFrom('public_addresses').selectAll().where('target_id', '=', id);
  expect(await addresses.execute()).toHaveLength(2);
  expect([await status(old), await status(fresh)]).toEqual([202, 202]);
  clock.advance(DAY_MS + 60_000);
  expect([await status(old), await status(fresh)]).toEqual([404, 202]);
  const shown = (await app.api('get', `/agents/${agentId}/automations/${id}`)).body.triggerConfig;
  expect(JSON.stringify(shown)).not.toContain(fresh.split('/').at(-1));
  // A second rotation gives the day to the last one, and not a second time to the first.
  const again = await adminJson(env, 'automation', 'rotate', id);
  expect([await status(old), await status(new URL(again.webhookUrl).pathname)]).toEqual([404, 202]);
});

test.each(['show', 'run', 'rotate'])('%s of an automation that does not exist, or is deleted, fails', async (verb) => {
  const { agentId, id } = await automationOf({ triggerMode: 'webhook_url' });
  await app.api('delete', `/agents/${agentId}/automations/${id}`).expect(204);
  for (const gone of [id, newId()]) {
    const { code, stderr } = await admin(url(), 'automation', verb, gone);
    expect([code, stderr]).toEqual([1, `error: There is no automation ${gone}\n`]);
  }
  expect((await admin(url(), 'automation', verb, 'x')).code).toBe(2);
});

test('rotate refuses an automation without an address', async () => {
  const { id } = await automationOf();
  const { code, stderr } = await admin(url(), 'automation', 'rotate', id);
  expect([code, stderr]).toEqual([1, `error: Automation ${id} has no address\n`]);
});
