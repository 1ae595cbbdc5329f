import { makeAgent, makeReadyAgent, publish, readAgent } from '../../support/agents/agents.ts';
import { addressesOf, channelPath, makeConnection } from '../../support/channels/connections.ts';
import { untilOneWaits } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingAgent } from '../../support/http/missing.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const connect = (agentId: string, channelType: unknown = 'web_chat', fields: object = {}) =>
  app.api('post', `/agents/${agentId}/channels`).send({ channelType, ...fields });
const listed = async (agentId: string) => (await app.api('get', `/agents/${agentId}/channels`)).body;

describe('201', () => {
  test.each([
    ['web_chat', 'Web chat'],
    ['z_api', 'WhatsApp via Z-API'],
    ['whatsapp', 'WhatsApp'],
  ])('a connection to %s is active, not configured and STATIC', async (channelType, channelName) => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await connect(publicId, channelType);
    const now = clock.now().toISOString();
    expect(status).toBe(201);
    expect(body).toEqual({
      publicId: expect.any(String),
      channelType,
      channelName,
      isActive: true,
      isConfigured: false,
      instanceMode: 'STATIC',
      channelSpecificConfig: null,
      createdAt: now,
      updatedAt: now,
    });
    expect(await listed(publicId)).toEqual([body]);
  });

  test('isActive: false connects without answering', async () => {
    const { publicId } = await makeAgent(app);
    expect((await connect(publicId, 'web_chat', { isActive: false })).body.isActive).toBe(false);
  });

  test('what has no signature has no address before its secret is made', async () => {
    const { publicId } = await makeAgent(app);
    const counts: Record<string, number> = {};
    for (const type of ['web_chat', 'whatsapp', 'z_api'])
      counts[type] = await addressesOf(app, (await connect(publicId, type)).body.publicId);
    expect(counts).toEqual({ web_chat: 1, whatsapp: 1, z_api: 0 });
  });

  test('the agent has an external channel until the last one is deleted, and nothing to publish', async () => {
    const agent = await makeReadyAgent(app);
    await publish(app, agent.publicId);
    expect(agent.hasExternalChannel).toBe(false);
    const first = await makeConnection(app, 'web_chat', { agentId: agent.publicId });
    const second = await makeConnection(app, 'z_api', { agentId: agent.publicId });
    expect(await readAgent(app, agent.publicId)).toMatchObject({
      hasExternalChannel: true,
      hasUnpublishedChanges: false,
    });
    const renamed = await app.api('patch', `/agents/${agent.publicId}`).send({ name: 'Renamed with a channel' });
    expect(renamed.body.hasExternalChannel).toBe(true);
    expect((await publish(app, agent.publicId)).hasExternalChannel).toBe(true);
    await app.api('delete', channelPath(first)).expect(204);
    expect((await readAgent(app, agent.publicId)).hasExternalChannel).toBe(true);
    await app.api('delete', channelPath(second)).expect(204);
    expect((await readAgent(app, agent.publicId)).hasExternalChannel).toBe(false);
  });
});

describe('400', () => {
  test.each(['telegram', 'WEB_CHAT', '__proto__', ' web_chat'])('%j is INVALID_CHANNEL_TYPE', async (channelType) => {
    const { publicId } = await makeAgent(app);
    const { status, body } = await connect(publicId, channelType);
    expect([status, body.code]).toEqual([400, 'INVALID_CHANNEL_TYPE']);
    expect(await listed(publicId)).toEqual([]);
  });
});

describeMissingAgent(
  () => app,
  (id) => connect(id),
);

describe('409 CHANNEL_ALREADY_CONNECTED', () => {
  test('the present connection stays as it is, and each agent has its own', async () => {
    const first = await makeConnection(app);
    const { status, body } = await connect(first.agentId, 'web_chat', { isActive: false });
    expect([status, body.code]).toEqual([409, 'CHANNEL_ALREADY_CONNECTED']);
    expect(await listed(first.agentId)).toMatchObject([{ publicId: first.publicId, isActive: true }]);
    expect((await connect((await makeAgent(app)).publicId)).status).toBe(201);
  });

  test('of many at once one connects', async () => {
    const { publicId } = await makeAgent(app);
    const answers = await Promise.all(Array.from({ length: 8 }, () => connect(publicId)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
    expect(await listed(publicId)).toHaveLength(1);
  });
});

test('a connection that is made while its agent is deleted does not outlive it', async () => {
  const { publicId } = await makeAgent(app);
  const { db, workspaceId } = app.workspace;
  let answer: Promise<{ status: number }> | undefined;
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('agents')
      .set({ deleted_at: new Date() })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', publicId)
      .execute();
    answer = Promise.resolve(connect(publicId));
    await untilOneWaits(app.database.name);
  });
  expect((await answer)?.status).toBe(404);
  const rows = await db.selectFrom('channel_connections').select('id').where('agent_id', '=', publicId).execute();
  expect(rows).toEqual([]);
});
