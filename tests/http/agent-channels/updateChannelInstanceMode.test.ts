import { newId } from '../../../core/ids.ts';
import { channelPath, makeConnection } from '../../support/channels/connections.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingChannel } from './missingChannel.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

type Channel = Awaited<ReturnType<typeof makeConnection>>;
const change = (channel: { agentId: string; publicId: string }, body: object) =>
  app.api('patch', `${channelPath(channel)}/instance-mode`).send(body);
const read = async (channel: Channel) => (await app.api('get', channelPath(channel))).body;

/** A conversation over a connection; undefined for one of the API. */
async function converse(agentId: string, connectionId?: string): Promise<string> {
  const id = newId();
  const row = { workspace_id: app.workspace.workspaceId, id, agent_id: agentId, external_user_id: `user ${id}` };
  await app.workspace.db
    .insertInto('conversations')
    .values({ ...row, ...(connectionId ? { connection_id: connectionId, channel: 'web_chat' as const } : {}) })
    .execute();
  return id;
}
const isEnded = async (id: string) => (await app.api('get', `/conversations/${id}`)).body.isEnded;

describe('200', () => {
  test('a confirmed switch keeps the settings and ends the open conversations of this connection only', async () => {
    const channel = await makeConnection(app);
    const other = await makeConnection(app, 'z_api', { agentId: channel.agentId });
    await app
      .api('patch', channelPath(channel))
      .send({ channelSpecificConfig: { title: 'Ask us' } })
      .expect(200);
    const open = await converse(channel.agentId, channel.publicId);
    const kept = [await converse(channel.agentId), await converse(channel.agentId, other.publicId)];
    clock.advance(1000);
    const { status, body } = await change(channel, { mode: 'DYNAMIC', confirm: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      instanceMode: 'DYNAMIC',
      isConfigured: true,
      channelSpecificConfig: { title: 'Ask us' },
      updatedAt: clock.now().toISOString(),
    });
    expect(await read(channel)).toEqual(body);
    expect(await isEnded(open)).toBe(true);
    for (const id of kept) expect(await isEnded(id)).toBe(false);
    expect((await change(channel, { mode: 'STATIC', confirm: true })).body.instanceMode).toBe('STATIC');
  });

  test.each([{}, { confirm: false }, { confirm: true }])('the present mode with %j changes nothing', async (fields) => {
    const channel = await makeConnection(app);
    const open = await converse(channel.agentId, channel.publicId);
    const before = await read(channel);
    clock.advance(1000);
    const { status, body } = await change(channel, { mode: 'STATIC', ...fields });
    expect([status, body]).toEqual([200, before]);
    expect(await isEnded(open)).toBe(false);
  });
});

describeMissingChannel(
  () => app,
  (agentId, publicId) => change({ agentId, publicId }, { mode: 'DYNAMIC', confirm: true }),
);

describe('422 CONFIRMATION_REQUIRED', () => {
  test.each([{}, { confirm: false }])('another mode with %j resets nothing', async (fields) => {
    const channel = await makeConnection(app);
    const open = await converse(channel.agentId, channel.publicId);
    const before = await read(channel);
    const { status, body } = await change(channel, { mode: 'DYNAMIC', ...fields });
    expect([status, body.code]).toEqual([422, 'CONFIRMATION_REQUIRED']);
    expect([await read(channel), await isEnded(open)]).toEqual([before, false]);
  });
});
