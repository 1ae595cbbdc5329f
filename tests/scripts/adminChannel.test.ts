import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../core/ids.ts';
import { channelAccount } from '../../domain/channels/connections.ts';
import { identitySecretsOf } from '../../domain/channels/webChat/identitySecret.ts';
import {
  addressesOf,
  channelPath,
  makeConnection,
  storedConnection,
  WHATSAPP_CREDENTIALS,
  ZAPI_CREDENTIALS,
} from '../support/channels/connections.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { startWhatsappServer } from '../support/servers/whatsappServer.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const admin = (...args: string[]) => run(app, 'channel', ...args);
const json = (...args: string[]) => adminJson(app, 'channel', ...args);
const CONFIG = { phoneNumberId: '109876543210', templateName: 'follow_up', templateLanguage: 'pt_BR' };
const settings = (config: object = CONFIG, credentials: object = WHATSAPP_CREDENTIALS) => [
  '--config',
  JSON.stringify(config),
  '--credentials',
  JSON.stringify(credentials),
];
const secretsOf = async (id: string) =>
  channelAccount(app.service.runtime.secrets, await storedConnection(app, id)).credentials;

describe('configure', () => {
  test('sets up whatsapp, which the API then shows without its secrets', async () => {
    const channel = await makeConnection(app, 'whatsapp');
    const answer = await json('configure', channel.publicId, ...settings());
    expect(answer).toMatchObject({
      isConfigured: true,
      account: CONFIG.phoneNumberId,
      webhookUrl: `${app.origin}/hooks/channels/${channel.publicId}`,
    });
    const { text, body } = await app.api('get', channelPath(channel));
    expect(body).toMatchObject({ isConfigured: true, channelSpecificConfig: CONFIG });
    for (const secret of Object.values(WHATSAPP_CREDENTIALS)) {
      expect(text).not.toContain(secret);
      expect(JSON.stringify(answer)).not.toContain(secret);
    }
    expect(await secretsOf(channel.publicId)).toEqual(WHATSAPP_CREDENTIALS);
  });

  test('each part alone, and whether it is active', async () => {
    const { publicId } = await makeConnection(app, 'whatsapp');
    const config = { phoneNumberId: '2' };
    expect(await json('configure', publicId, '--config', JSON.stringify(config))).toMatchObject({
      isConfigured: false,
    });
    const only = ['--credentials', JSON.stringify(WHATSAPP_CREDENTIALS)];
    expect(await json('configure', publicId, ...only)).toMatchObject({ isConfigured: true, config });
    expect((await admin('configure', publicId, '--active', 'false')).stdout).toContain('(whatsapp) is off\n');
    expect(await storedConnection(app, publicId)).toMatchObject({ is_active: false, is_configured: true });
  });

  test('reads settings from a file, and from the standard input', async () => {
    const { publicId } = await makeConnection(app, 'whatsapp');
    const folder = await mkdtemp(join(tmpdir(), 'guildhall-settings-'));
    const file = join(folder, 'credentials.json');
    await writeFile(file, JSON.stringify(WHATSAPP_CREDENTIALS));
    await json('configure', publicId, '--credentials', file);
    expect(await secretsOf(publicId)).toEqual(WHATSAPP_CREDENTIALS);
    const other = { ...WHATSAPP_CREDENTIALS, accessToken: 'from-the-standard-input' };
    const args = ['scripts/admin.ts', 'channel', 'configure', publicId, '--credentials', '-', '--json'];
    const env = { ...process.env, ...app.env, NODE_OPTIONS: '' };
    const child = spawnSync(process.execPath, args, { input: JSON.stringify(other), env, encoding: 'utf8' });
    expect([child.status, child.stderr]).toEqual([0, '']);
    expect(await secretsOf(publicId)).toEqual(other);
    await rm(folder, { recursive: true });
  });

  test('shows the address of Z-API once, when there is none yet', async () => {
    const { publicId } = await makeConnection(app, 'z_api');
    const first = await json('configure', publicId, ...settings({ instanceId: 'once' }, ZAPI_CREDENTIALS));
    expect(first.webhookUrl).toMatch(/\/hooks\/channels\/[0-9a-f]{40}$/);
    expect(await json('configure', publicId, '--active', 'true')).not.toHaveProperty('webhookUrl');
    expect(await addressesOf(app, publicId)).toBe(1);
  });

  test.each<[string, object, object, string]>([
    ['no number', { templateName: 'x' }, WHATSAPP_CREDENTIALS, 'config/phoneNumberId: is required'],
    ['a number with a plus', { phoneNumberId: '+49' }, WHATSAPP_CREDENTIALS, 'config/phoneNumberId: must match'],
    ['an unknown field', { ...CONFIG, token: 'x' }, WHATSAPP_CREDENTIALS, 'config/token: is not a known field'],
    [
      'a short secret',
      CONFIG,
      { ...WHATSAPP_CREDENTIALS, appSecret: 'short' },
      'credentials/appSecret: must NOT have fewer',
    ],
    [
      'a token with a line break',
      CONFIG,
      { ...WHATSAPP_CREDENTIALS, accessToken: 'a\nb' },
      'credentials/accessToken: must match',
    ],
  ])('%s is refused, and nothing changes', async (_what, config, credentials, message) => {
    const { publicId } = await makeConnection(app, 'whatsapp');
    const before = await storedConnection(app, publicId);
    const { code, stdout, stderr } = await admin('configure', publicId, ...settings(config, credentials));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
    expect(await storedConnection(app, publicId)).toEqual(before);
  });

  test('a number belongs to one connection of a workspace', async () => {
    const [first, second] = [await makeConnection(app, 'whatsapp'), await makeConnection(app, 'whatsapp')];
    const config = { phoneNumberId: '3333' };
    await json('configure', first.publicId, ...settings(config));
    expect(await admin('configure', second.publicId, ...settings(config))).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: Another connection of the workspace has this account\n',
    });
    const foreign = await makeConnection(app, 'whatsapp', { key: app.stranger.apiKey });
    await json('configure', foreign.publicId, ...settings(config));
  });

  test.each([
    [['--config', '[1]'], '--config must be a JSON object'],
    [['--config', '{"a":'], '--config must be a JSON object'],
    [['--credentials', '/no/such/file'], '--credentials must be a JSON object, a file that has one'],
    [['--active', 'yes'], '--active must be true or false'],
    [[], 'Give --config, --credentials or --active'],
  ])('%j is a usage error', async (args, message) => {
    const { code, stderr } = await admin('configure', newId(), ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('an error repeats nothing of the credentials', async () => {
    const { publicId } = await makeConnection(app, 'whatsapp');
    for (const credentials of ['{"accessToken": "do-not-tell"', '{"accessToken": "do-not-tell"}', '"do-not-tell"']) {
      const { code, stderr } = await admin('configure', publicId, '--credentials', credentials);
      expect(code).toBeGreaterThan(0);
      expect(stderr).not.toContain('do-not-tell');
    }
  });

  test('without the key of the service nothing is sealed that it could not read', async () => {
    const { publicId } = await makeConnection(app, 'whatsapp');
    const { code, stderr } = await run(
      app.database,
      'channel',
      'configure',
      publicId,
      ...settings({ phoneNumberId: '5' }),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('Set GUILDHALL_SECRETS_KEY or GUILDHALL_DATA_DIR')]);
    expect((await storedConnection(app, publicId)).credentials).toBeNull();
  });

  test('needs a connection that exists', async () => {
    const id = newId();
    const { stderr } = await admin('configure', id, '--active', 'true');
    expect(stderr).toBe(`error: There is no channel connection ${id}\n`);
  });
});

describe('list', () => {
  test('shows state, account and health, of one workspace or of all', async () => {
    const { workspaceId, apiKey } = await app.database.seedWorkspace();
    const phone = await makeConnection(app, 'whatsapp', { key: apiKey });
    await json('configure', phone.publicId, ...settings({ phoneNumberId: '4444' }));
    const chat = await makeConnection(app, 'web_chat', { key: apiKey });
    const problem = { problem_code: 'TOKEN_EXPIRED' as const, problem_message: 'Bad\ntoken', problem_at: new Date(0) };
    await app.database.database.system
      .updateTable('channel_connections')
      .set(problem)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', phone.publicId)
      .execute();
    const listed = await json('list', '--workspace', workspaceId);
    expect(listed).toMatchObject([
      { connectionPublicId: chat.publicId, channelType: 'web_chat', isConfigured: false, problem: null },
      {
        connectionPublicId: phone.publicId,
        account: '4444',
        lastWebhookAt: null,
        problem: { code: 'TOKEN_EXPIRED', message: 'Bad\ntoken', since: '1970-01-01T00:00:00.000Z' },
      },
    ]);
    const { stdout } = await admin('list', '--workspace', workspaceId);
    expect(stdout).toMatch(
      / whatsapp +active +4444 +never +0 +TOKEN_EXPIRED since 1970-01-01T00:00:00.000Z: Bad\\u000atoken$/m,
    );
    expect(stdout).toMatch(/ web_chat +not configured +0 +ok$/m);
    expect((await json('list')).length).toBeGreaterThan(2);
  });
});

describe('rotate', () => {
  test('makes a secret for a web chat; the one before it counts for a day', async () => {
    const { publicId } = await makeConnection(app);
    const { identitySecret: first } = await json('rotate', publicId);
    const { identitySecret: second } = await json('rotate', publicId);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(identitySecretsOf(await secretsOf(publicId), new Date())).toEqual([second, first]);
    const { identitySecret: third } = await json('rotate', publicId, '--end-now');
    expect(identitySecretsOf(await secretsOf(publicId), new Date())).toEqual([third]);
  });

  test('the API cannot clear the secret of a web chat', async () => {
    const channel = await makeConnection(app);
    const { identitySecret } = await json('rotate', channel.publicId);
    await app.api('patch', channelPath(channel)).send({ credentials: null, channelSpecificConfig: {} }).expect(200);
    expect(identitySecretsOf(await secretsOf(channel.publicId), new Date())).toEqual([identitySecret]);
  });

  test('whatsapp has nothing to rotate', async () => {
    const { publicId } = await makeConnection(app, 'whatsapp');
    expect((await admin('rotate', publicId)).stderr).toContain('has no secret of its own');
  });
});

describe('check', () => {
  test('asks the provider, and stores what is wrong until it is right', async () => {
    const server = await startWhatsappServer();
    const env = { ...app.env, GUILDHALL_WHATSAPP_BASE_URL: server.baseUrl, GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true' };
    const check = async (id: string) => (await run({ env }, 'channel', 'check', id)).stdout;
    const { publicId } = await makeConnection(app, 'whatsapp');
    const credentials = { ...WHATSAPP_CREDENTIALS, accessToken: server.accessToken };
    await json('configure', publicId, ...settings({ phoneNumberId: server.phoneNumberId }, credentials));
    expect(await check(publicId)).toBe('ok\n');
    await json('configure', publicId, '--credentials', JSON.stringify({ ...credentials, accessToken: 'old' }));
    expect(await check(publicId)).toMatch(/^TOKEN_EXPIRED: /);
    expect(await storedConnection(app, publicId)).toMatchObject({ problem_code: 'TOKEN_EXPIRED' });
    await json('configure', publicId, '--credentials', JSON.stringify(credentials));
    await server.close();
    const { code, stderr } = await run({ env }, 'channel', 'check', publicId);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The provider could not be asked')]);
    expect(stderr).not.toContain(server.accessToken);
  });

  test.each(['web_chat', 'whatsapp'] as const)('%s without a provider or settings is refused', async (type) => {
    const { publicId } = await makeConnection(app, type);
    expect((await admin('check', publicId)).code).toBe(1);
  });
});
