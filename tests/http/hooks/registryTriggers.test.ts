import { createHmac } from 'node:crypto';
import { makeAgent } from '../../support/agents/agents.ts';
import { automationFields, listAutomations, makeAutomation } from '../../support/automations/automations.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';
import { startToolkitRegistry, type ToolkitRegistry } from '../../support/servers/toolkitRegistry.ts';
import { connectRemote } from '../../support/tools/toolkits.ts';

const WEBHOOK_SECRET = 'a-secret-of-the-registry';
const GMAIL = { triggerMode: 'webhook', triggerToolkitSlug: 'gmail', triggerSlug: 'GMAIL_NEW_GMAIL_MESSAGE' };
const clock = new TestClock();
let registry: ToolkitRegistry;
let app: TestApp;
let agentId: string;
beforeEach(async () => {
  registry = await startToolkitRegistry();
  const access = { ...registry.access, webhookSecret: WEBHOOK_SECRET };
  app = await startTestApp({ clock, toolkits: { composio: access } });
  agentId = (await makeAgent(app)).publicId;
});
afterEach(async () => {
  await app.close();
  await registry.close();
});

let sent = 0;

/** A request of the registry, signed as it documents. */
function deliver(
  payload: unknown,
  { id = `msg_${++sent}`, secret = WEBHOOK_SECRET, offset = 0, body = JSON.stringify(payload) } = {},
) {
  const time = String(Math.floor(clock.now().getTime() / 1000) + offset);
  const signature = createHmac('sha256', secret)
    .update(`${id}.${time}.${JSON.stringify(payload)}`)
    .digest('base64');
  return app.raw
    .post('/hooks/toolkits/composio')
    .type('json')
    .set({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` })
    .send(body);
}

const message = (triggerId: string | undefined, data: object = { subject: 'Hello' }) => ({
  id: 'msg_1',
  timestamp: clock.now().toISOString(),
  type: 'composio.trigger.message',
  metadata: { log_id: 'log_1', trigger_slug: GMAIL.triggerSlug, trigger_id: triggerId, connected_account_id: 'ca_1' },
  data,
});

const executions = () =>
  app.workspace.db.selectFrom('automation_executions').select(['automation_id', 'triggered_by', 'event']).execute();
const enabled = () => registry.instances.map((instance) => instance.enabled);
const change = (id: string, body: object) => app.api('patch', `/agents/${agentId}/automations/${id}`).send(body);

test('the trigger is started with the workspace’s active connection, and follows the automation', async () => {
  await connectRemote(app.workspace, registry, { toolkit: 'gmail', status: 'EXPIRED' });
  const { accountId } = await connectRemote(app.workspace, registry, { toolkit: 'gmail' });
  await connectRemote(app.workspace, registry, { toolkit: 'slack' });
  const triggerConfig = { labelIds: 'INBOX' };
  const automation = await makeAutomation(app, agentId, { ...GMAIL, triggerConfig });
  // It has no address: the registry has one for all.
  expect(automation).toMatchObject({ ...GMAIL, triggerConfig });
  expect(automation.triggerConfig).toEqual(triggerConfig);
  expect(registry.instances).toMatchObject([
    { slug: GMAIL.triggerSlug, accountId, config: triggerConfig, enabled: true },
  ]);
  const { publicId: id } = automation;
  await change(id, { status: 'inactive' }).expect(200);
  await poll(enabled, ([first]) => first === false);
  await change(id, { status: 'active' }).expect(200);
  expect(enabled()).toEqual([true]);
  await change(id, { triggerConfig: { labelIds: 'SENT' } }).expect(200);
  await poll(
    () => registry.instances.map(({ config }) => config),
    (configs) => JSON.stringify(configs) === '[{"labelIds":"SENT"}]',
  );
  // Another trigger of an automation that is switched off with it rests, too.
  await change(id, { status: 'inactive', triggerConfig: { labelIds: 'DRAFT' } }).expect(200);
  await poll(
    () => registry.instances.map(({ config, enabled: isEnabled }) => [config, isEnabled]),
    (left) => JSON.stringify(left) === '[[{"labelIds":"DRAFT"},false]]',
  );
  await app.api('delete', `/agents/${agentId}/automations/${id}`).expect(204);
  await poll(enabled, (left) => left.length === 0);
});

test('automations that wait for the same share a trigger, which ends with the last one or with their agent', async () => {
  await connectRemote(app.workspace, registry, { toolkit: 'gmail' });
  const [one, two] = [await makeAutomation(app, agentId, GMAIL), await makeAutomation(app, agentId, GMAIL)];
  expect(registry.instances).toHaveLength(1);
  const asked = () => registry.requests.filter(({ method }) => method === 'DELETE' || method === 'PATCH').length;
  await change(one.publicId, { status: 'inactive' }).expect(200);
  await deliver(message(registry.instances[0]?.id)).expect(202);
  expect((await executions()).map((row) => row.automation_id)).toEqual([two.publicId]);
  expect([asked(), enabled()]).toEqual([0, [true]]);
  await app.api('delete', `/agents/${agentId}`).expect(204);
  await poll(enabled, (left) => left.length === 0);
});

test('an event of the registry starts each automation that waits for its trigger once', async () => {
  await connectRemote(app.workspace, registry, { toolkit: 'gmail' });
  const automation = await makeAutomation(app, agentId, GMAIL);
  await makeAutomation(app, agentId, { ...GMAIL, triggerConfig: { labelIds: 'SENT' } });
  const triggerId = registry.instances[0]?.id;
  const { status } = await deliver(message(triggerId), { id: 'msg_same' });
  expect(status).toBe(202);
  await deliver(message(triggerId), { id: 'msg_same' }).expect(202);
  const event = {
    contentType: `application/json; event=${GMAIL.triggerSlug}`,
    text: '{"subject":"Hello"}',
    digest: expect.any(String),
  };
  const started = { automation_id: automation.publicId, triggered_by: `webhook:${GMAIL.triggerSlug}`, event };
  expect(await executions()).toEqual([started]);
  // Version 2 of its payloads.
  await deliver({
    type: 'gmail_new_gmail_message',
    log_id: 'l',
    data: { trigger_nano_id: triggerId, subject: 'Hi' },
  }).expect(202);
  expect(await executions()).toHaveLength(2);
});

test('a trigger that nothing waits for, and other messages of the registry, are acknowledged', async () => {
  await deliver(message('ti_unknown')).expect(202);
  await deliver({ type: 'composio.connected_account.expired', data: { id: 'ca_1' } }).expect(202);
  for (const payload of [null, [], 'x', { type: 'composio.trigger.message' }, { data: { trigger_nano_id: 7 } }]) {
    await deliver(payload).expect(202);
  }
  expect(await executions()).toEqual([]);
});

test.each<[string, object]>([
  ['another secret', { secret: 'another' }],
  ['another body', { body: '{"type":"composio.trigger.message"}' }],
  ['an old time', { offset: -301 }],
  ['a time in the future', { offset: 301 }],
])('400 for %s, and nothing runs', async (_what, options) => {
  await connectRemote(app.workspace, registry, { toolkit: 'gmail' });
  await makeAutomation(app, agentId, GMAIL);
  const { status, body } = await deliver(message(registry.instances[0]?.id), options);
  expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
  expect(await executions()).toEqual([]);
});

test('400 without headers, 413 for a large body, and 404 where no secret is set', async () => {
  const path = '/hooks/toolkits/composio';
  expect((await app.raw.post(path).send({})).status).toBe(400);
  expect(
    (
      await app.raw
        .post(path)
        .type('json')
        .send(JSON.stringify('x'.repeat(1_048_576)))
    ).status,
  ).toBe(413);
  const without = await startTestApp({ database: app.database, toolkits: { composio: registry.access } });
  expect((await without.raw.post(path).send({})).status).toBe(404);
  await without.close();
});

test('without an active connection there is no trigger, and what the registry refuses is not stored', async () => {
  const create = (fields: object) =>
    app.api('post', `/agents/${agentId}/automations`).send(automationFields({ ...GMAIL, ...fields }));
  const unconnected = await create({});
  expect([unconnected.status, unconnected.body.code]).toEqual([422, 'UNKNOWN_TRIGGER']);
  await connectRemote(app.workspace, registry, { toolkit: 'gmail' });
  const refused = await create({ triggerConfig: { labelIds: 'refused' } });
  expect([refused.status, refused.body.details[0]]).toEqual([
    400,
    expect.objectContaining({ path: '/body/triggerConfig', message: 'The label does not exist.' }),
  ]);
  const first = await makeAutomation(app, agentId, { ...GMAIL, triggerConfig: { labelIds: 'A' } });
  // The name is taken: the trigger that was started for it ends.
  expect((await create({ name: first.name, triggerConfig: { labelIds: 'B' } })).status).toBe(409);
  await poll(enabled, (left) => left.length === 1);
  expect(await listAutomations(app, agentId)).toEqual([first]);
});
