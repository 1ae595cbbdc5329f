import { spreadMs } from '../../../domain/automations/schedule.ts';
import { openTriggerSecrets } from '../../../domain/automations/triggers.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { addressOf, listAutomations, makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { describeMissingAutomation } from './missing.ts';

const clock = new TestClock();
let registry: ToolkitRegistry;
let app: TestApp;
beforeAll(async () => {
  registry = await startToolkitRegistry();
  app = await startTestApp({ clock, toolkits: { composio: registry.access } });
});
afterEach(() => {
  registry.fault = undefined;
});
afterAll(async () => {
  await app.close();
  await registry.close();
});

const SECRET = 'a-signing-secret-of-github';
const GITHUB = {
  triggerMode: 'webhook',
  triggerToolkitSlug: 'github',
  triggerSlug: 'GITHUB_PUSH',
  triggerConfig: { signingSecret: SECRET, branches: ['main'] },
};
const DAILY = { triggerMode: 'schedule', schedule: '0 9 * * *', timezone: 'UTC' };

function update(agentId: string, id: string, body: object) {
  return app.api('patch', `/agents/${agentId}/automations/${id}`).send(body);
}

/** An automation of an agent of its own, and a function that changes it. */
async function changeable(fields: object = {}) {
  const { publicId: agentId } = await makeAgent(app);
  const automation = await makeAutomation(app, agentId, fields);
  return { agentId, automation, change: (body: object) => update(agentId, automation.publicId, body) };
}

async function stored(id: string) {
  return app.workspace.db.selectFrom('automations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

const addresses = async (id: string) =>
  (await app.workspace.db.selectFrom('public_addresses').selectAll().where('target_id', '=', id).execute()).length;

describe('200', () => {
  test('the fields of the body change, and no others', async () => {
    const { automation, change } = await changeable(DAILY);
    clock.advance(1_000);
    const fields = { name: 'Other', description: 'Why', prompt: 'Do that.', hitlMode: 'auto_approve' };
    const { status, body } = await change(fields);
    expect(status).toBe(200);
    expect(body).toEqual({ ...automation, ...fields, updatedAt: clock.now().toISOString() });
  });

  test('an empty body changes nothing', async () => {
    const { automation, change } = await changeable(DAILY);
    clock.advance(1_000);
    expect((await change({})).body).toEqual(automation);
  });

  test('the next run follows the schedule, the zone, the status and the mode', async () => {
    const { automation, change } = await changeable(DAILY);
    const hourOf = ({ body }: { body: { nextRunAt: string } }) => body.nextRunAt?.slice(11, 16) ?? null;
    expect(automation.nextRunAt).toMatch(/T09:00:00/);
    expect(hourOf(await change({ schedule: '15 10 * * *' }))).toBe('10:15');
    expect(hourOf(await change({ timezone: 'Asia/Tokyo' }))).toBe('01:15');
    expect(hourOf(await change({ status: 'inactive' }))).toBeNull();
    // It stays inactive, whatever else is changed.
    expect(hourOf(await change({ schedule: '30 10 * * *' }))).toBeNull();
    expect(hourOf(await change({ status: 'active' }))).toBe('01:30');
    expect(hourOf(await change({ triggerMode: 'manual' }))).toBeNull();
    const again = await change({ triggerMode: 'schedule' });
    expect(again.body).toMatchObject({ schedule: '30 10 * * *', timezone: 'Asia/Tokyo' });
    expect(hourOf(again)).toBe('01:30');
    const { next_run_at, due_at } = await stored(automation.publicId);
    expect((due_at as Date).getTime() - (next_run_at as Date).getTime()).toBe(spreadMs(automation.publicId));
  });

  test('a slot that is due already is kept by a change that has nothing to do with it', async () => {
    const { automation, change } = await changeable({ triggerMode: 'schedule', schedule: '* * * * *' });
    clock.advance(180_000);
    const same = { name: 'Renamed', status: 'active', schedule: '* * * * *', timezone: 'utc', triggerMode: 'schedule' };
    expect((await change(same)).body.nextRunAt).toBe(automation.nextRunAt);
    expect(new Date((await change({ schedule: '*/2 * * * *' })).body.nextRunAt) > clock.now()).toBe(true);
  });

  test('a person who switches it on again begins the count of its failures anew', async () => {
    const { automation, change } = await changeable(DAILY);
    const row = app.workspace.db.updateTable('automations').where('id', '=', automation.publicId);
    await row
      .set({ status: 'inactive', inactive_reason: 'failed', failures_in_row: 10, next_run_at: null, due_at: null })
      .execute();
    expect((await change({ status: 'active' })).body.nextRunAt).not.toBeNull();
    expect(await stored(automation.publicId)).toMatchObject({ inactive_reason: null, failures_in_row: 0 });
  });

  test('an address comes and goes with the mode, and each is another one', async () => {
    const { automation, change } = await changeable();
    const first = (await change({ triggerMode: 'webhook_url' })).body;
    const address = addressOf(app, first);
    expect(address).toMatch(/[0-9a-f]{40}$/);
    expect((await change({ name: 'Same address' })).body.triggerConfig.webhookUrl).toMatch(/\/\*{8}$/);
    expect((await change({ triggerMode: 'webhook_url' })).body.triggerConfig.webhookUrl).toMatch(/\/\*{8}$/);
    expect(await addresses(automation.publicId)).toBe(1);
    expect((await change({ triggerMode: 'manual' })).body.triggerConfig).toEqual({});
    expect(await addresses(automation.publicId)).toBe(0);
    const second = (await change({ triggerMode: 'webhook_url' })).body;
    expect(addressOf(app, second)).not.toBe(address);
    const third = (await change(GITHUB)).body;
    expect(addressOf(app, third)).not.toBe(addressOf(app, second));
    expect(await addresses(automation.publicId)).toBe(1);
  });

  test('a secret that is sent hidden stays, and leaves with its toolkit', async () => {
    const { automation, change } = await changeable(GITHUB);
    const secretsOf = async () => openTriggerSecrets(app.service.runtime.secrets, await stored(automation.publicId));
    const shown = { signingSecret: '********', webhookUrl: `${app.origin}/hooks/automations/********` };
    const hidden = await change({ triggerConfig: { signingSecret: '********', repository: 'ada/engine' } });
    expect(hidden.body.triggerConfig).toEqual({ ...shown, repository: 'ada/engine' });
    expect(await secretsOf()).toEqual({ signingSecret: SECRET });
    // The configuration is kept for another trigger of the toolkit that takes it.
    const other = await change({ triggerSlug: 'GITHUB_STAR' });
    expect(other.body).toMatchObject({
      triggerSlug: 'GITHUB_STAR',
      triggerConfig: { ...shown, repository: 'ada/engine' },
    });
    expect(await secretsOf()).toEqual({ signingSecret: SECRET });
    await change({ triggerConfig: { signingSecret: 'another-secret-of-github' } }).expect(200);
    expect(await secretsOf()).toEqual({ signingSecret: 'another-secret-of-github' });
    const toSomeoneElse = { triggerToolkitSlug: 'webhook', triggerSlug: 'WEBHOOK_SIGNED' };
    const config = { signingSecret: '********', signatureHeader: 'X-Signature' };
    const refused = await change({ ...toSomeoneElse, triggerConfig: config });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, '/body/triggerConfig/signingSecret']);
    await change({ triggerMode: 'manual' }).expect(200);
    expect((await stored(automation.publicId)).trigger_secrets).toBeNull();
  });

  test('changes at the same time all count', async () => {
    const { automation, change } = await changeable(DAILY);
    const changes = [
      { name: 'N' },
      { prompt: 'P' },
      { description: 'D' },
      { hitlMode: 'auto_approve' },
      { schedule: '@hourly' },
    ];
    const answers = await Promise.all(changes.map((body) => change(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const [after] = await listAutomations(app, (await stored(automation.publicId)).agent_id);
    expect(after).toMatchObject(Object.assign({}, ...changes));
  });
});

describe('400', () => {
  test.each([
    ['VALIDATION_ERROR', {}, { name: '' }],
    ['VALIDATION_ERROR', {}, { name: null }],
    ['VALIDATION_ERROR', {}, { description: null }],
    ['VALIDATION_ERROR', {}, { status: 'archived' }],
    ['VALIDATION_ERROR', {}, { publicId: 'x' }],
    ['VALIDATION_ERROR', {}, { triggerMode: 'schedule' }],
    ['VALIDATION_ERROR', {}, { triggerMode: 'webhook' }],
    ['VALIDATION_ERROR', {}, { triggerMode: 'webhook', triggerSlug: 'GITHUB_PUSH' }],
    ['VALIDATION_ERROR', GITHUB, { triggerConfig: null }],
    ['VALIDATION_ERROR', GITHUB, { triggerSlug: 'GITHUB_STAR' }],
    ['INVALID_CRON', DAILY, { schedule: '0 0 9 * * *' }],
    ['INVALID_CRON', {}, { triggerMode: 'schedule', schedule: '0 0 30 2 *' }],
    ['INVALID_TIMEZONE', DAILY, { timezone: 'Mars' }],
  ])('%s: %j, changed by %j, stays what it is', async (code, fields, body) => {
    const { agentId, automation, change } = await changeable(fields);
    const [before] = await listAutomations(app, agentId);
    const refused = await change(body);
    expect([refused.status, refused.body.code]).toEqual([400, code]);
    expect(await listAutomations(app, agentId)).toEqual([before]);
    expect(before?.publicId).toBe(automation.publicId);
  });
});

describeMissingAgent(
  () => app,
  (agentId) => update(agentId, '00000000-0000-7000-8000-000000000000', { name: 'x' }),
);
describeMissingAutomation(
  () => app,
  (agentId, id) => update(agentId, id, { name: 'x' }),
);

test('409 AUTOMATION_NAME_TAKEN: the name of another automation of the agent; its own is free', async () => {
  const { agentId, automation, change } = await changeable();
  await makeAutomation(app, agentId, { name: 'Taken' });
  const { status, body } = await change({ name: 'TAKEN' });
  expect([status, body.code]).toEqual([409, 'AUTOMATION_NAME_TAKEN']);
  expect((await change({ name: automation.name.toUpperCase() })).status).toBe(200);
});

test('422 UNKNOWN_TRIGGER', async () => {
  const { change } = await changeable(GITHUB);
  for (const fields of [{ triggerSlug: 'GITHUB_TEAPOT' }, { triggerToolkitSlug: 'stripe' }]) {
    const { status, body } = await change(fields);
    expect([status, body.code]).toEqual([422, 'UNKNOWN_TRIGGER']);
  }
});

test('502 TOOLKIT_REGISTRY_UNAVAILABLE when the registry must be asked and fails; other changes do not ask it', async () => {
  const { change } = await changeable(GITHUB);
  registry.fault = { status: 500 };
  const { status, body } = await change({ triggerToolkitSlug: 'gmail', triggerSlug: 'GMAIL_NEW_GMAIL_MESSAGE' });
  expect([status, body.code]).toEqual([502, 'TOOLKIT_REGISTRY_UNAVAILABLE']);
  expect((await change({ name: 'Renamed' })).status).toBe(200);
});
