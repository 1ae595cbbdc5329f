import { channelAccount } from '../../../domain/channels/connections.ts';
import { channelPath, makeConnection, storedConnection, ZAPI_CREDENTIALS } from '../../support/channels/connections.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { describeMissingChannel } from './missingChannel.ts';

const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock });
});
afterAll(() => app.close());

const configure = (channel: { agentId: string; publicId: string }, body: object, key?: string) =>
  app.api('patch', channelPath(channel), key).send(body);
const read = async (channel: { agentId: string; publicId: string }) =>
  (await app.api('get', channelPath(channel))).body;
const account = async (id: string) => channelAccount(app.service.runtime.secrets, await storedConnection(app, id));

const LOOK = {
  title: 'Ask us',
  welcomeMessage: 'How can we help?',
  primaryColor: '#1f6feb',
  allowedOrigins: ['https://www.example.com', 'http://localhost:5173', 'https://[2001:db8::1]:8443'],
};

let instances = 0;
const zApi = () => ({
  channelSpecificConfig: { instanceId: `3DC1A2B3-${++instances}` },
  credentials: ZAPI_CREDENTIALS,
});

describe('200', () => {
  test.each([[LOOK], [{}], [{ primaryColor: '#ABCDEF' }]])('the web chat is configured with %j', async (look) => {
    const { agentId, ...channel } = await makeConnection(app);
    clock.advance(1000);
    const { status, body } = await configure({ agentId, ...channel }, { channelSpecificConfig: look });
    const updatedAt = clock.now().toISOString();
    expect(status).toBe(200);
    expect(body).toEqual({ ...channel, isConfigured: true, channelSpecificConfig: look, updatedAt });
    expect(await read({ agentId, ...channel })).toEqual(body);
  });

  test('Z-API is configured when it has both the instance and the tokens, in either order', async () => {
    const [first, second] = [await makeConnection(app, 'z_api'), await makeConnection(app, 'z_api')];
    const { channelSpecificConfig, credentials } = zApi();
    expect((await configure(first, { channelSpecificConfig })).body).toMatchObject({
      isConfigured: false,
      channelSpecificConfig,
    });
    expect((await configure(first, { credentials })).body.isConfigured).toBe(true);
    expect((await configure(second, { credentials })).body).toMatchObject({
      isConfigured: false,
      channelSpecificConfig: null,
    });
    expect((await configure(second, { channelSpecificConfig: { instanceId: 'in-either-order' } })).body).toMatchObject({
      isConfigured: true,
    });
  });

  test('credentials are sealed for their row, and no response has them', async () => {
    const channel = await makeConnection(app, 'z_api');
    const { text } = await configure(channel, zApi());
    for (const answer of [text, JSON.stringify(await read(channel))]) {
      expect(answer).not.toContain('token');
      expect(answer).not.toContain('credentials');
    }
    expect(JSON.stringify(await tableContents(app.database.name))).not.toContain(ZAPI_CREDENTIALS.instanceToken);
    expect((await account(channel.publicId)).credentials).toEqual(ZAPI_CREDENTIALS);
    const other = await makeConnection(app, 'z_api');
    const { credentials: blob } = await storedConnection(app, channel.publicId);
    const copied = { ...(await storedConnection(app, other.publicId)), credentials: blob };
    expect(() => channelAccount(app.service.runtime.secrets, copied)).toThrow('does not belong here');
  });

  test('an absent field stays as it is, and each object is replaced as a whole', async () => {
    const chat = await makeConnection(app);
    await configure(chat, { channelSpecificConfig: LOOK }).expect(200);
    expect((await configure(chat, { isActive: false })).body).toMatchObject({
      isActive: false,
      isConfigured: true,
      channelSpecificConfig: LOOK,
    });
    expect((await configure(chat, { channelSpecificConfig: { title: 'New' } })).body).toMatchObject({
      isActive: false,
      channelSpecificConfig: { title: 'New' },
    });
    const phone = await makeConnection(app, 'z_api');
    await configure(phone, zApi()).expect(200);
    await configure(phone, { credentials: { ...ZAPI_CREDENTIALS, instanceToken: 'another' } }).expect(200);
    expect((await account(phone.publicId)).credentials.instanceToken).toBe('another');
    expect((await read(phone)).isConfigured).toBe(true);
  });

  test('null clears, and what lacks something is not configured', async () => {
    const chat = await makeConnection(app);
    await configure(chat, { channelSpecificConfig: LOOK }).expect(200);
    const cleared = { isConfigured: false, channelSpecificConfig: null };
    expect((await configure(chat, { channelSpecificConfig: null })).body).toMatchObject(cleared);
    expect((await configure(chat, { credentials: null, channelSpecificConfig: {} })).body.isConfigured).toBe(true);
    const phone = await makeConnection(app, 'z_api');
    await configure(phone, zApi()).expect(200);
    expect((await configure(phone, { credentials: null })).body.isConfigured).toBe(false);
    expect((await storedConnection(app, phone.publicId)).credentials).toBeNull();
    await configure(phone, { credentials: ZAPI_CREDENTIALS }).expect(200);
    expect((await configure(phone, { channelSpecificConfig: null })).body).toMatchObject(cleared);
    expect((await storedConnection(app, phone.publicId)).provider_account).toBeNull();
  });

  test('an empty body changes nothing', async () => {
    const channel = await makeConnection(app);
    const before = await read(channel);
    clock.advance(1000);
    const { status, body } = await configure(channel, {});
    expect([status, body]).toEqual([200, before]);
  });

  test('whatsapp is switched on and off', async () => {
    const channel = await makeConnection(app, 'whatsapp');
    expect((await configure(channel, { isActive: false })).body).toMatchObject({
      isActive: false,
      isConfigured: false,
    });
  });

  test('new settings forget what was wrong with the account', async () => {
    const channel = await makeConnection(app, 'z_api');
    const problem = { problem_code: 'DISCONNECTED' as const, problem_message: 'Gone.', problem_at: new Date() };
    await app.workspace.db.updateTable('channel_connections').set(problem).where('id', '=', channel.publicId).execute();
    await configure(channel, { isActive: true }).expect(200);
    expect((await storedConnection(app, channel.publicId)).problem_code).toBe('DISCONNECTED');
    await configure(channel, zApi()).expect(200);
    expect((await storedConnection(app, channel.publicId)).problem_code).toBeNull();
  });
});

describe('400 INVALID_CHANNEL_CONFIG', () => {
  test.each<['web_chat' | 'z_api', object, string]>([
    ['web_chat', { title: 'a'.repeat(101) }, '/title'],
    ['web_chat', { welcomeMessage: 5 }, '/welcomeMessage'],
    ['web_chat', { primaryColor: 'red' }, '/primaryColor'],
    ['web_chat', { primaryColor: '#1f6feb;}' }, '/primaryColor'],
    ['web_chat', { allowedOrigins: 'https://example.com' }, '/allowedOrigins'],
    ['web_chat', { allowedOrigins: ['https://example.com/'] }, '/allowedOrigins/0'],
    [
      'web_chat',
      { allowedOrigins: ['https://a.example', "https://b.example; script-src 'unsafe-inline'"] },
      '/allowedOrigins/1',
    ],
    ['web_chat', { allowedOrigins: ['*'] }, '/allowedOrigins/0'],
    ['web_chat', { allowedOrigins: ['https://example.com:443'] }, '/allowedOrigins/0'],
    ['web_chat', { allowedOrigins: ['https://example.com:99999'] }, '/allowedOrigins/0'],
    ['web_chat', { allowedOrigins: ['javascript:alert(1)'] }, '/allowedOrigins/0'],
    ['web_chat', { allowedOrigins: Array(51).fill('https://example.com') }, '/allowedOrigins'],
    ['web_chat', { instanceId: 'x' }, '/instanceId'],
    ['z_api', {}, '/instanceId'],
    ['z_api', { instanceId: '' }, '/instanceId'],
    ['z_api', { instanceId: null }, '/instanceId'],
    ['z_api', { instanceId: '..' }, '/instanceId'],
    ['z_api', { instanceId: 'a/b' }, '/instanceId'],
    ['z_api', { instanceId: 'x', extra: 1 }, '/extra'],
  ])('%s with %j', async (type, channelSpecificConfig, path) => {
    const channel = await makeConnection(app, type);
    const before = await storedConnection(app, channel.publicId);
    const { status, body } = await configure(channel, { channelSpecificConfig, isActive: false });
    expect([status, body.code]).toEqual([400, 'INVALID_CHANNEL_CONFIG']);
    expect(body.details[0].path).toBe(`/body/channelSpecificConfig${path}`);
    expect(await storedConnection(app, channel.publicId)).toEqual(before);
  });
});

describe('400 INVALID_CHANNEL_CREDENTIALS', () => {
  test.each<['web_chat' | 'z_api', object, string]>([
    ['web_chat', {}, ''],
    ['web_chat', { identifySecret: 'mine' }, ''],
    ['z_api', {}, '/instanceToken'],
    ['z_api', { instanceToken: 'only one' }, '/clientToken'],
    ['z_api', { ...ZAPI_CREDENTIALS, clientToken: 'two\r\nLines: yes' }, '/clientToken'],
    ['z_api', { ...ZAPI_CREDENTIALS, instanceToken: '../../other' }, '/instanceToken'],
    ['z_api', { ...ZAPI_CREDENTIALS, extra: true }, '/extra'],
  ])('%s with %j', async (type, credentials, path) => {
    const channel = await makeConnection(app, type);
    const { status, body } = await configure(channel, { credentials, isActive: false });
    expect([status, body.code]).toEqual([400, 'INVALID_CHANNEL_CREDENTIALS']);
    expect(body.details.map((detail: { path: string }) => detail.path)).toContain(`/body/credentials${path}`);
    const stored = await storedConnection(app, channel.publicId);
    expect(stored).toMatchObject({ credentials: null, is_active: true });
  });
});

describeMissingChannel(
  () => app,
  (agentId, publicId) => configure({ agentId, publicId }, { isActive: false }),
);

describe('409 ZAPI_INSTANCE_ID_ALREADY_USED', () => {
  test('within the workspace, and nothing changes', async () => {
    const settings = zApi();
    const [first, second] = [await makeConnection(app, 'z_api'), await makeConnection(app, 'z_api')];
    await configure(first, settings).expect(200);
    const { status, body } = await configure(second, { ...settings, isActive: false });
    expect([status, body.code]).toEqual([409, 'ZAPI_INSTANCE_ID_ALREADY_USED']);
    expect(await read(second)).toMatchObject({ isActive: true, isConfigured: false, channelSpecificConfig: null });
    await configure(first, settings).expect(200);
    const foreign = await makeConnection(app, 'z_api', { key: app.stranger.apiKey });
    await configure(foreign, settings, app.stranger.apiKey).expect(200);
  });

  test('of two at once one gets the instance', async () => {
    const settings = zApi();
    const channels = [await makeConnection(app, 'z_api'), await makeConnection(app, 'z_api')];
    const answers = await Promise.all(channels.map((channel) => configure(channel, settings)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });
});

describe('422 CHANNEL_CONFIG_NOT_ALLOWED_VIA_API', () => {
  test.each([
    { channelSpecificConfig: { phoneNumberId: '1' } },
    { channelSpecificConfig: null },
    { credentials: {} },
    { credentials: null, isActive: false },
  ])('whatsapp with %j', async (body) => {
    const channel = await makeConnection(app, 'whatsapp');
    const answer = await configure(channel, body);
    expect([answer.status, answer.body.code]).toEqual([422, 'CHANNEL_CONFIG_NOT_ALLOWED_VIA_API']);
    expect((await read(channel)).isActive).toBe(true);
  });
});
