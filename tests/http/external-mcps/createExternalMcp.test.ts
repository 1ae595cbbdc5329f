// Longer than most: every auth type, and each way in which a credential can be wrong.
import type { IncomingHttpHeaders } from 'node:http';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startEverything, startMcpServer, type TestMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { startRawMcp, tool } from '../../support/servers/mcpHostile.ts';
import { readMcp, registerMcp, storedMcps } from '../../support/tools/mcpApi.ts';

const certificate = useCertificate();
let app: TestApp;
let server: TestMcpServer;

beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
  server = await startMcpServer(certificate, { tools: { echo: 'Says it again', add: undefined } });
});
afterAll(async () => {
  await server.close();
  await app.close();
});
beforeEach(() => {
  server.seen.length = 0;
  server.settings.authorize = () => true;
});

const create = (body: object, key?: string) => app.api('post', '/external-mcps', key).send(body);
const SECRET = 'sk-very-secret-0123';

describe('201', () => {
  test('the server is connected and its tools are found', async () => {
    const now = app.clock.now().toISOString();
    const { status, body } = await create({ name: 'Plain', url: server.url, authType: 'NONE' });
    expect(status).toBe(201);
    expect(body).toEqual({
      publicId: expect.any(String),
      name: 'Plain',
      url: server.url,
      authType: 'NONE',
      authHeaderName: null,
      status: 'CONNECTED',
      errorMessage: null,
      lastDiscoveredAt: now,
      tools: [
        { id: expect.any(String), name: 'echo', description: 'Says it again', enabled: true },
        { id: expect.any(String), name: 'add', description: null, enabled: true },
      ],
      createdAt: now,
      updatedAt: now,
    });
    expect(body.tools[0].id).not.toBe(body.tools[1].id);
    expect(await readMcp(app, body.publicId)).toEqual(body);
    expect(server.sessions.size).toBe(0);
  });

  const legacy = { authType: 'CUSTOM_HEADER', authHeaderName: 'X-Team-Key', authValue: SECRET };
  const headers = [
    { name: 'X-Team', value: 'blue' },
    { name: 'X-Team-Key', value: SECRET },
  ];
  test.each<[string, object, string | null, (headers: IncomingHttpHeaders) => boolean]>([
    ['API_KEY', { authType: 'API_KEY', authValue: SECRET }, null, (h) => h['x-api-key'] === SECRET],
    [
      'BEARER_TOKEN',
      { authType: 'BEARER_TOKEN', authValue: SECRET },
      null,
      (h) => h.authorization === `Bearer ${SECRET}`,
    ],
    [
      'CUSTOM_HEADER',
      { authType: 'CUSTOM_HEADER', authHeaders: headers },
      null,
      (h) => h['x-team'] === 'blue' && h['x-team-key'] === SECRET,
    ],
    ['CUSTOM_HEADER by one name', legacy, 'X-Team-Key', (h) => h['x-team-key'] === SECRET],
    [
      'API_KEY with an empty list of headers',
      { authType: 'API_KEY', authValue: SECRET, authHeaders: [] },
      null,
      (h) => h['x-api-key'] === SECRET,
    ],
    ['CUSTOM_HEADER by one name and headers of null', { ...legacy, authHeaders: null }, 'X-Team-Key', () => true],
    [
      'API_KEY with a null name',
      { authType: 'API_KEY', authValue: SECRET, authHeaderName: null },
      null,
      (h) => h['x-api-key'] === SECRET,
    ],
    [
      'API_KEY with a header of its own',
      { authType: 'API_KEY', authValue: SECRET, authHeaderName: 'X-Team-Key' },
      null,
      (h) => h['x-team-key'] === SECRET && !h['x-api-key'],
    ],
  ])(
    '%s: the credential goes with every request, is stored encrypted and never returned',
    async (name, auth, headerName, authorize) => {
      server.settings.authorize = authorize;
      const { status, body, text } = await create({ name, url: server.url, ...auth });
      expect([status, body.status, body.errorMessage]).toEqual([201, 'CONNECTED', null]);
      expect(body.authHeaderName).toBe(headerName);
      expect(text).not.toContain(SECRET);
      const stored = (await storedMcps(app.workspace)).find(({ id }) => id === body.publicId);
      expect(stored?.credential).toBeInstanceOf(Buffer);
      expect(JSON.stringify(stored) + stored?.credential?.toString('latin1')).not.toContain(SECRET);
    },
  );

  test('the row is stored as PENDING, with its credential, before the server is called', async () => {
    const workspace = await app.database.seedWorkspace();
    const seen: unknown[] = [];
    const raw = await startRawMcp(certificate, async ({ method }) => {
      const [row] = await storedMcps(workspace);
      if (method === 'initialize') seen.push([row?.name, row?.status, row?.credential !== null]);
      return false;
    });
    await create({ name: 'Early', url: raw.origin, authType: 'API_KEY', authValue: SECRET }, workspace.apiKey);
    expect(seen).toEqual([['Early', 'PENDING', true]]);
    await raw.close();
  });

  test('a server that refuses the credential is stored with status ERROR and the reason, which does not show the credential', async () => {
    server.settings.authorize = (h) => h['x-api-key'] === 'another';
    const { status, body, text } = await create({
      name: 'No entry',
      url: server.url,
      authType: 'API_KEY',
      authValue: SECRET,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'ERROR', lastDiscoveredAt: null, tools: [] });
    expect(body.errorMessage).toMatch(/does not accept the one that it was sent \(HTTP 401\)/);
    expect(text).not.toContain(SECRET);
    expect(await readMcp(app, body.publicId)).toEqual(body);
  });

  test('a server that cannot be reached is stored with status ERROR', async () => {
    const gone = await startRawMcp(certificate, () => false);
    await gone.close();
    const { status, body } = await create({ name: 'Gone', url: `${gone.origin}/mcp`, authType: 'NONE' });
    expect([status, body.status, body.errorMessage]).toEqual([
      201,
      'ERROR',
      expect.stringMatching(/^127\.0\.0\.1:\d+ refused the connection\.$/),
    ]);
  });

  test("characters that PostgreSQL cannot store are removed from the server's texts", async () => {
    const description = `a\0b\ud800${'x'.repeat(5000)}`;
    const inputSchema = { type: 'object', title: '\0\udc00', properties: { 'k\0': { default: '\0' } } };
    const raw = await startRawMcp(certificate, ({ method, result }) =>
      method === 'tools/list' ? result({ tools: [tool('t', { description, inputSchema })] }) : false,
    );
    const created = await registerMcp(app, { url: raw.origin });
    expect(created).toMatchObject({ status: 'CONNECTED', tools: [{ name: 't' }] });
    expect(created.tools[0]?.description).toHaveLength(4000);
    await raw.close();
  });

  test.each(['streamableHttp', 'sse'] as const)('the official reference server is connected over %s', async (mode) => {
    const everything = await startEverything(certificate, mode);
    const created = await registerMcp(app, { url: everything.url });
    expect(created).toMatchObject({ status: 'CONNECTED', errorMessage: null });
    const names = created.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum']));
    // It runs as a task only: each call of it would be refused.
    expect(names).not.toContain('simulate-research-query');
    await everything.close();
  });

  test('rejectIfNotConnected changes nothing for a server that connects', async () => {
    const { status, body } = await create({
      name: 'Sure',
      url: server.url,
      authType: 'NONE',
      rejectIfNotConnected: true,
    });
    expect([status, body.status]).toEqual([201, 'CONNECTED']);
  });

  test('the name of a deleted server is free again, and names are unique only within a workspace', async () => {
    const first = await registerMcp(app, { name: 'Again', url: server.url });
    await registerMcp(app, { name: 'Again', url: server.url }, app.stranger.apiKey);
    await app.api('delete', `/external-mcps/${first.publicId}`).expect(204);
    expect((await registerMcp(app, { name: 'Again', url: server.url })).publicId).not.toBe(first.publicId);
  });
});

describe('201, where private networks are not allowed', () => {
  test.each([
    'https://127.0.0.1',
    'https://localhost',
    'https://[::ffff:127.0.0.1]',
    'https://2130706433',
    'https://10.1.2.3',
    'https://169.254.169.254',
    'https://[fd00::1]',
  ])('%s is not called, and the reason is clear', async (origin) => {
    const strict = await startTestApp({ database: app.database });
    const url = `${origin}:${server.port}/mcp`;
    const { publicId, status, errorMessage } = await registerMcp(strict, { url });
    expect([status, errorMessage]).toEqual([
      'ERROR',
      expect.stringMatching(/does not lead to an address that this service may call. Use a public address.$/),
    ]);
    expect((await readMcp(strict, publicId)).status).toBe('ERROR');
    expect(server.seen).toEqual([]);
    await strict.close();
  });
});

describe('400 VALIDATION_ERROR', () => {
  const one = (name: string, value = 'v') => ({ authType: 'CUSTOM_HEADER', authHeaders: [{ name, value }] });
  test.each<[string, object, string]>([
    ['API_KEY without its value', { authType: 'API_KEY' }, '/body/authValue'],
    ['BEARER_TOKEN without its value', { authType: 'BEARER_TOKEN' }, '/body/authValue'],
    ['CUSTOM_HEADER without headers', { authType: 'CUSTOM_HEADER' }, '/body/authHeaders'],
    ['CUSTOM_HEADER with a name and no value', { authType: 'CUSTOM_HEADER', authHeaderName: 'X-K' }, '/body/authValue'],
    ['CUSTOM_HEADER with a value and no name', { authType: 'CUSTOM_HEADER', authValue: 'v' }, '/body/authHeaderName'],
    ['headers in both ways', { ...one('X-K'), authHeaderName: 'X-L' }, '/body/authHeaderName'],
    ['headers and a value', { ...one('X-K'), authValue: 'v' }, '/body/authValue'],
    ['a value that NONE does not use', { authType: 'NONE', authValue: 'v' }, '/body/authValue'],
    ['headers that NONE does not use', { ...one('X-K'), authType: 'NONE' }, '/body/authHeaders'],
    ['headers that API_KEY does not use', { ...one('X-K'), authType: 'API_KEY', authValue: 'v' }, '/body/authHeaders'],
    [
      'a name that BEARER_TOKEN does not use',
      { authType: 'BEARER_TOKEN', authValue: 'v', authHeaderName: 'X-K' },
      '/body/authHeaderName',
    ],
    [
      'a reserved name for the API key',
      { authType: 'API_KEY', authValue: 'v', authHeaderName: 'Host' },
      '/body/authHeaderName',
    ],
    ['a blank value', { authType: 'API_KEY', authValue: ' \t' }, '/body/authValue'],
    ['a value of two lines', { authType: 'API_KEY', authValue: 'a\r\nX-Other: b' }, '/body/authValue'],
    ['a header name with a colon', one('X-K:'), '/body/authHeaders/0/name'],
    ['a blank header', one('X-K', ' '), '/body/authHeaders/0/value'],
    ['a header of two lines', one('X-K', 'a\nb'), '/body/authHeaders/0/value'],
    [
      'a reserved name, the old way',
      { authType: 'CUSTOM_HEADER', authHeaderName: 'Host', authValue: 'v' },
      '/body/authHeaderName',
    ],
    [
      'a header twice',
      { authType: 'CUSTOM_HEADER', authHeaders: [...one('X-K').authHeaders, ...one('x-k').authHeaders] },
      '/body/authHeaders/1/name',
    ],
    ...[
      'Host',
      'content-length',
      'Transfer-Encoding',
      'Connection',
      'Accept',
      'Content-Type',
      'Mcp-Session-Id',
      'MCP-PROTOCOL-VERSION',
      'Last-Event-ID',
      'Proxy-Authorization',
      'TE',
      'Upgrade',
      'Expect',
    ].map((name): [string, object, string] => [`the header ${name}`, one(name), '/body/authHeaders/0/name']),
    ['plain HTTP', { authType: 'NONE', url: 'http://mcp.example.com' }, '/body/url'],
    ['no URL', { authType: 'NONE', url: 'https://[' }, '/body/url'],
    ['a password in the address', { authType: 'NONE', url: 'https://me:secret@mcp.example.com' }, '/body/url'],
    ['a blank name', { authType: 'NONE', name: ' ' }, '/body/name'],
  ])('refuses %s', async (_what, fields, path) => {
    const workspace = await app.database.seedWorkspace();
    const { status, body } = await create({ name: 'Bad', url: server.url, ...fields }, workspace.apiKey);
    expect([status, body.code, body.details.map((each: { path: string }) => each.path)]).toEqual([
      400,
      'VALIDATION_ERROR',
      [path],
    ]);
    expect(server.seen).toEqual([]);
    expect(await storedMcps(workspace)).toEqual([]);
  });

  test('refuses a name with NUL', async () => {
    const { status, body } = await create({ name: 'a\0b', url: server.url, authType: 'NONE' });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(server.seen).toEqual([]);
  });
});

describe('409 EXTERNAL_MCP_NAME_TAKEN', () => {
  test('a name is unique in a workspace, and the server is not called', async () => {
    await registerMcp(app, { name: 'Once', url: server.url });
    server.seen.length = 0;
    const { status, body } = await create({ name: 'Once', url: server.url, authType: 'NONE' });
    expect([status, body.code]).toEqual([409, 'EXTERNAL_MCP_NAME_TAKEN']);
    expect(server.seen).toEqual([]);
  });

  test('of four at the same time one gets the name', async () => {
    const workspace = await app.database.seedWorkspace();
    const body = { name: 'Race', url: server.url, authType: 'NONE' };
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(body, workspace.apiKey)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await storedMcps(workspace)).toHaveLength(1);
  });
});

describe('422 OAUTH_NOT_SUPPORTED_VIA_API', () => {
  test('a server that needs OAuth is refused, and nothing is stored', async () => {
    const workspace = await app.database.seedWorkspace();
    const body = { name: 'OAuth', url: server.url, authType: 'OAUTH_AUTHORIZATION_CODE' };
    const refused = await create(body, workspace.apiKey);
    expect([refused.status, refused.body.code]).toEqual([422, 'OAUTH_NOT_SUPPORTED_VIA_API']);
    expect(server.seen).toEqual([]);
    expect(await storedMcps(workspace)).toEqual([]);
  });
});

describe('422 MCP_DISCOVERY_FAILED', () => {
  test('with rejectIfNotConnected the response has the reason, nothing is stored and the name is free', async () => {
    const workspace = await app.database.seedWorkspace();
    server.settings.authorize = (h) => h['x-api-key'] === 'another';
    const body = { name: 'Sure', url: server.url, authType: 'API_KEY', authValue: SECRET, rejectIfNotConnected: true };
    const refused = await create(body, workspace.apiKey);
    expect([refused.status, refused.body.code]).toEqual([422, 'MCP_DISCOVERY_FAILED']);
    expect(refused.body.message).toMatch(/HTTP 401/);
    expect(refused.text).not.toContain(SECRET);
    expect(await storedMcps(workspace)).toEqual([]);
    server.settings.authorize = () => true;
    await create(body, workspace.apiKey).expect(201);
  });
});
