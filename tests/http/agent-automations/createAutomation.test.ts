import { addressHash } from '../../../core/publicAddress.ts';
import { spreadMs } from '../../../domain/automations/schedule.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import { addressOf, automationFields, listAutomations, makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';

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
const GITHUB = { triggerMode: 'webhook', triggerToolkitSlug: 'github', triggerSlug: 'GITHUB_PUSH' };

function create(agentId: string, fields: object, key?: string) {
  return app.api('post', `/agents/${agentId}/automations`, key).send(automationFields(fields));
}

async function stored(id: string) {
  return app.workspace.db.selectFrom('automations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

describe('201', () => {
  test('the automation is active and reads the same as in the response', async () => {
    const { publicId } = await makeAgent(app);
    const fields = { name: 'Report', prompt: 'Write it.', triggerMode: 'manual' };
    const { status, body } = await create(publicId, fields);
    const now = clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      ...fields,
      publicId: expect.any(String),
      description: null,
      status: 'active',
      hitlMode: 'pause_on_approval',
      schedule: null,
      timezone: null,
      triggerToolkitSlug: null,
      triggerSlug: null,
      triggerConfig: {},
      lastRunAt: null,
      lastRunStatus: null,
      nextRunAt: null,
      createdAt: now,
      updatedAt: now,
    });
    expect((await app.api('get', `/agents/${publicId}/automations/${body.publicId}`)).body).toEqual(body);
  });

  test('a schedule runs at its next slot in its zone, and is due up to half a minute later, never earlier', async () => {
    const { publicId } = await makeAgent(app);
    const fields = { triggerMode: 'schedule', schedule: '30 9 * * *', timezone: 'america/sao_paulo' };
    const automation = await makeAutomation(app, publicId, { ...fields, hitlMode: 'auto_approve' });
    expect(automation).toMatchObject({ ...fields, timezone: 'America/Sao_Paulo', hitlMode: 'auto_approve' });
    const next = new Date(automation.nextRunAt as string);
    expect(next.toISOString()).toMatch(/T12:30:00\.000Z$/);
    expect(next.getTime() - clock.now().getTime()).toBeGreaterThan(0);
    expect(next.getTime() - clock.now().getTime()).toBeLessThanOrEqual(86_400_000);
    const { due_at } = await stored(automation.publicId);
    expect(due_at?.getTime()).toBe(next.getTime() + spreadMs(automation.publicId));
    expect(spreadMs(automation.publicId)).toBeLessThan(30_000);
  });

  test('a schedule without a zone is UTC', async () => {
    const { publicId } = await makeAgent(app);
    const automation = await makeAutomation(app, publicId, { triggerMode: 'schedule', schedule: '@daily' });
    expect(automation).toMatchObject({ schedule: '@daily', timezone: 'UTC' });
    expect(automation.nextRunAt).toMatch(/T00:00:00\.000Z$/);
  });

  test('what the mode does not use is ignored', async () => {
    const { publicId } = await makeAgent(app);
    const ignored = { schedule: 'never', timezone: 'Mars', triggerToolkitSlug: 'no', triggerSlug: 'NO' };
    const automation = await makeAutomation(app, publicId, { ...ignored, triggerConfig: { a: 1 } });
    expect(automation).toMatchObject({ schedule: null, timezone: null, triggerSlug: null, triggerConfig: {} });
  });

  test('the address has 160 random bits, is shown once, and only its hash is stored', async () => {
    const { publicId } = await makeAgent(app);
    const fields = { triggerMode: 'webhook_url', triggerConfig: { webhookUrl: 'https://example.com/mine' } };
    const automation = await makeAutomation(app, publicId, fields);
    const secret = addressOf(app, automation).replace('/hooks/automations/', '');
    expect(secret).toMatch(/^[0-9a-f]{40}$/);
    const hidden = { ...automation, triggerConfig: { webhookUrl: `${app.origin}/hooks/automations/********` } };
    expect(await listAutomations(app, publicId)).toEqual([hidden]);
    expect((await app.api('get', `/agents/${publicId}/automations/${automation.publicId}`)).body).toEqual(hidden);
    const addresses = await app.workspace.db.selectFrom('public_addresses').selectAll().execute();
    expect(addresses).toContainEqual(
      expect.objectContaining({ target_id: automation.publicId, address_hash: addressHash(secret), expires_at: null }),
    );
    expect(JSON.stringify(await stored(automation.publicId))).not.toContain(secret);
  });

  test('a request that is repeated with its key gets the secret address again, which is kept encrypted', async () => {
    const { publicId } = await makeAgent(app);
    const body = automationFields({ triggerMode: 'webhook_url' });
    const ask = () => app.api('post', `/agents/${publicId}/automations`).set('Idempotency-Key', 'once').send(body);
    const [first, second] = [await ask(), await ask()];
    expect(first.status).toBe(201);
    expect([second.status, second.body]).toEqual([201, first.body]);
    const secret = addressOf(app, first.body).replace('/hooks/automations/', '');
    const kept = await app.workspace.db.selectFrom('idempotency_keys').select('body').execute();
    expect(kept).toHaveLength(1);
    expect(kept[0]?.body).toBeTruthy();
    expect(JSON.stringify(kept)).not.toContain(secret);
    expect(JSON.stringify(kept)).not.toContain(first.body.publicId);
    expect(await listAutomations(app, publicId)).toHaveLength(1);
  });

  test('a trigger of a built-in toolkit has an address and a signing secret, which is encrypted and never shown', async () => {
    const { publicId } = await makeAgent(app);
    const triggerConfig = { signingSecret: SECRET, repository: 'ada/engine', branches: ['main'] };
    const automation = await makeAutomation(app, publicId, { ...GITHUB, triggerConfig });
    expect(automation).toMatchObject(GITHUB);
    expect(automation.triggerConfig).toEqual({
      signingSecret: '********',
      repository: 'ada/engine',
      branches: ['main'],
      webhookUrl: expect.stringMatching(/\/hooks\/automations\/[0-9a-f]{40}$/),
    });
    const { trigger_secrets, trigger_config } = await stored(automation.publicId);
    expect(JSON.stringify(trigger_config)).not.toContain(SECRET);
    expect(trigger_secrets?.includes(SECRET)).toBe(false);
  });

  test('names are unique within one agent, and that of a deleted automation is free', async () => {
    const [one, two] = [await makeAgent(app), await makeAgent(app)];
    const first = await makeAutomation(app, one.publicId, { name: 'Report' });
    expect((await create(two.publicId, { name: 'Report' })).status).toBe(201);
    await app.api('delete', `/agents/${one.publicId}/automations/${first.publicId}`).expect(204);
    expect((await create(one.publicId, { name: 'Report' })).status).toBe(201);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['no name', { name: undefined }, '/body/name'],
    ['a blank name', { name: ' ' }, '/body/name'],
    ['a long name', { name: 'a'.repeat(151) }, '/body/name'],
    ['no prompt', { prompt: undefined }, '/body/prompt'],
    ['a long prompt', { prompt: 'a'.repeat(10_001) }, '/body/prompt'],
    ['a long description', { description: 'a'.repeat(501) }, '/body/description'],
    ['a long schedule', { schedule: `${'0,'.repeat(50)}0 * * * *` }, '/body/schedule'],
    ['another mode', { triggerMode: 'email' }, '/body/triggerMode'],
    ['a status', { status: 'inactive' }, '/body/status'],
    ['no schedule', { triggerMode: 'schedule' }, '/body/schedule'],
    ['a schedule of null', { triggerMode: 'schedule', schedule: null }, '/body/schedule'],
    ['no toolkit', { ...GITHUB, triggerToolkitSlug: undefined }, '/body/triggerToolkitSlug'],
    ['no trigger', { ...GITHUB, triggerSlug: null }, '/body/triggerSlug'],
    ['no configuration', GITHUB, '/body/triggerConfig/signingSecret'],
    [
      'a hidden secret',
      { ...GITHUB, triggerConfig: { signingSecret: '********' } },
      '/body/triggerConfig/signingSecret',
    ],
    ['a short secret', { ...GITHUB, triggerConfig: { signingSecret: 'short' } }, '/body/triggerConfig/signingSecret'],
    ['another field', { ...GITHUB, triggerConfig: { signingSecret: SECRET, event: 'x' } }, '/body/triggerConfig/event'],
    [
      'no branches',
      { ...GITHUB, triggerConfig: { signingSecret: SECRET, branches: [] } },
      '/body/triggerConfig/branches',
    ],
  ])('%s: nothing is stored', async (_what, fields, path) => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await create(publicId, fields);
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(await listAutomations(app, publicId)).toEqual([]);
  });
});

test.each(['* * * *', '0 0 9 * * *', '0 0 31 2 *', '61 * * * *', '', 'tomorrow'])(
  '400 INVALID_CRON: %j',
  async (schedule) => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await create(publicId, { triggerMode: 'schedule', schedule });
    expect([status, body.code]).toEqual([400, 'INVALID_CRON']);
    expect(await listAutomations(app, publicId)).toEqual([]);
  },
);

test.each(['Mars/Olympus', '+02:00', ''])('400 INVALID_TIMEZONE: %j', async (timezone) => {
  const { publicId } = await makeAgent(app);
  const { status, body } = await create(publicId, { triggerMode: 'schedule', schedule: '@daily', timezone });
  expect([status, body.code]).toEqual([400, 'INVALID_TIMEZONE']);
});

describeMissingAgent(
  () => app,
  (agentId) => create(agentId, {}),
);

describe('409 AUTOMATION_NAME_TAKEN', () => {
  test('of concurrent requests one gets the name, in any case of letters', async () => {
    const { publicId } = await makeAgent(app);
    const answers = await Promise.all(['Report', 'report', 'REPORT'].map((name) => create(publicId, { name })));
    expect(answers.map(({ status, body }) => body.code ?? status).sort()).toEqual([
      201,
      'AUTOMATION_NAME_TAKEN',
      'AUTOMATION_NAME_TAKEN',
    ]);
  });
});

describe('422', () => {
  test.each([
    ['a trigger that nobody has', { triggerSlug: 'GITHUB_TEAPOT' }],
    ['a trigger of another toolkit', { triggerSlug: 'STRIPE_INVOICE_PAID' }],
    ['a toolkit that nobody has', { triggerToolkitSlug: 'teapot' }],
    ['a slug that would change an address', { triggerSlug: '../tools' }],
  ])('UNKNOWN_TRIGGER: %s', async (_what, fields) => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await create(publicId, { ...GITHUB, triggerConfig: { signingSecret: SECRET }, ...fields });
    expect([status, body.code]).toEqual([422, 'UNKNOWN_TRIGGER']);
  });

  test('IDEMPOTENCY_KEY_REUSED', async () => {
    const { publicId } = await makeAgent(app);
    const ask = (name: string) => create(publicId, { name }).set('Idempotency-Key', 'twice');
    expect((await ask('One')).status).toBe(201);
    expect((await ask('Two')).body.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

test('429 RATE_LIMITED at the workspace’s limit, however many come at once', async () => {
  const { apiKey } = await app.database.seedWorkspace({ limits: { automation_limit: 3 } });
  const { publicId } = await makeAgent(app, {}, apiKey);
  const answers = await Promise.all(Array.from({ length: 10 }, () => create(publicId, {}, apiKey)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(7).fill(429)]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body.message).toContain('automations as its limit of 3');
  expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
  const [automation] = await listAutomations(app, publicId, apiKey);
  await app.api('delete', `/agents/${publicId}/automations/${automation?.publicId}`, apiKey).expect(204);
  expect((await create(publicId, {}, apiKey)).status).toBe(201);
});

test('502 TOOLKIT_REGISTRY_UNAVAILABLE when the registry must be asked and fails', async () => {
  const { publicId } = await makeAgent(app);
  registry.fault = { status: 500 };
  const fields = { triggerMode: 'webhook', triggerToolkitSlug: 'gmail', triggerSlug: 'GMAIL_NEW_GMAIL_MESSAGE' };
  const { status, body } = await create(publicId, fields);
  expect([status, body.code]).toEqual([502, 'TOOLKIT_REGISTRY_UNAVAILABLE']);
  expect(await listAutomations(app, publicId)).toEqual([]);
});
