// Longer than most: every change of a credential, and changes during a discovery.
import type { IncomingHttpHeaders } from 'node:http';
import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import { withoutRequestId } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { startMcpServer, type TestMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { startRawMcp, tool } from '../../support/servers/mcpHostile.ts';
import { gate, readMcp, registerMcp, storedMcps, storeMcp } from '../../support/tools/mcpApi.ts';

type Auth = Partial<components['schemas']['ExternalMcpUpdate']> & { authType: 'NONE' | 'API_KEY' };

const certificate = useCertificate();
const clock = new TestClock();
let app: TestApp;
let server: TestMcpServer;

beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true, clock });
  server = await startMcpServer(certificate);
});
afterAll(async () => {
  await server.close();
  await app.close();
});
beforeEach(() => {
  server.seen.length = 0;
  server.settings.authorize = () => true;
  server.settings.tools = { echo: 'Says it again' };
});

const update = (id: string, body: object) => app.api('patch', `/external-mcps/${id}`).send(body);
const storedOf = async (publicId: string) => (await storedMcps(app.workspace)).find(({ id }) => id === publicId);

/** Auth settings in a request, and the headers that a server receives. */
const ways: Record<string, { fields: object; sees: (headers: IncomingHttpHeaders) => boolean }> = {
  none: { fields: { authType: 'NONE' }, sees: (h) => !('x-api-key' in h || 'authorization' in h || 'x-own' in h) },
  key: { fields: { authType: 'API_KEY', authValue: 'sk-old' }, sees: (h) => h['x-api-key'] === 'sk-old' },
  ownKey: {
    fields: { authType: 'API_KEY', authHeaderName: 'X-Own', authValue: 'sk-old' },
    sees: (h) => h['x-own'] === 'sk-old',
  },
  bearer: {
    fields: { authType: 'BEARER_TOKEN', authValue: 'sk-old' },
    sees: (h) => h.authorization === 'Bearer sk-old',
  },
  header: {
    fields: { authType: 'CUSTOM_HEADER', authHeaderName: 'X-Own', authValue: 'sk-old' },
    sees: (h) => h['x-own'] === 'sk-old',
  },
  headers: {
    fields: { authType: 'CUSTOM_HEADER', authHeaders: [{ name: 'X-Own', value: 'sk-list' }] },
    sees: (h) => h['x-own'] === 'sk-list',
  },
};

async function registered(way: string) {
  const created = await registerMcp(app, { url: server.url, ...(ways[way]?.fields as Auth) });
  clock.advance(1000);
  server.seen.length = 0;
  return created;
}

describe('200', () => {
  test('a new name alone does not call the server', async () => {
    const before = await registered('key');
    server.settings.authorize = () => false;
    const { status, body } = await update(before.publicId, { name: 'Renamed' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, name: 'Renamed', updatedAt: clock.now().toISOString() });
    expect(server.seen).toEqual([]);
  });

  test('an empty body changes nothing', async () => {
    const before = await registered('key');
    const { status, body } = await update(before.publicId, {});
    expect(status).toBe(200);
    expect(body).toEqual(before);
    expect(server.seen).toEqual([]);
  });

  test.each<[string, string, object]>([
    ['the address it has', 'key', { url: 'SAME' }],
    ['the type it has', 'bearer', { authType: 'BEARER_TOKEN' }],
    ['the type it has, of headers', 'headers', { authType: 'CUSTOM_HEADER' }],
    ['the header name it has', 'header', { authHeaderName: 'X-Own' }],
    ['no headers in a list', 'headers', { authHeaders: [] }],
    ['headers of null', 'headers', { authType: 'CUSTOM_HEADER', authHeaders: null }],
    ['no headers in a list, for a type without any', 'key', { authHeaders: [] }],
    ['no headers in a list, where one has a name', 'header', { authHeaders: [] }],
    ['no header name where there is none', 'headers', { authHeaderName: null }],
    ['no header name for a type without one', 'key', { authType: 'API_KEY', authHeaderName: null }],
  ])('%s is no change of the connection', async (_what, way, change) => {
    const { publicId, status, authType } = await registered(way);
    const body = { ...change, ...('url' in change ? { url: server.url } : {}) };
    expect((await update(publicId, body)).body).toMatchObject({ status, authType });
    expect(server.seen).toEqual([]);
  });

  test.each<[string, string, object, (h: IncomingHttpHeaders) => boolean, string | null]>([
    ['a new API key', 'key', { authValue: 'sk-new' }, (h) => h['x-api-key'] === 'sk-new', null],
    ['a new bearer token', 'bearer', { authValue: 'sk-new' }, (h) => h.authorization === 'Bearer sk-new', null],
    ['a new value of the one header', 'header', { authValue: 'sk-new' }, (h) => h['x-own'] === 'sk-new', 'X-Own'],
    [
      'a new name of the one header',
      'header',
      { authHeaderName: 'X-Other' },
      (h) => h['x-other'] === 'sk-old' && !h['x-own'],
      'X-Other',
    ],
    [
      'headers in place of the one',
      'header',
      { authHeaders: [{ name: 'X-New', value: 'n' }] },
      (h) => h['x-new'] === 'n' && !h['x-own'],
      null,
    ],
    [
      'headers in place of the one, which null takes away',
      'header',
      { authHeaderName: null, authHeaders: [{ name: 'X-New', value: 'n' }] },
      (h) => h['x-new'] === 'n' && !h['x-own'],
      null,
    ],
    [
      'another type in place of the one header, which null takes away',
      'header',
      { authType: 'BEARER_TOKEN', authHeaderName: null },
      (h) => h.authorization === 'Bearer sk-old' && !h['x-own'],
      null,
    ],
    [
      'other headers',
      'headers',
      { authHeaders: [{ name: 'X-New', value: 'n' }] },
      (h) => h['x-new'] === 'n' && !h['x-own'],
      null,
    ],
    [
      'one header in place of the list',
      'headers',
      { authHeaderName: 'X-One', authValue: 'n' },
      (h) => h['x-one'] === 'n' && !h['x-own'],
      'X-One',
    ],
    [
      'the API key as bearer token',
      'key',
      { authType: 'BEARER_TOKEN' },
      (h) => h.authorization === 'Bearer sk-old' && !h['x-api-key'],
      null,
    ],
    [
      'the API key in a header',
      'key',
      { authType: 'CUSTOM_HEADER', authHeaderName: 'X-Mine' },
      (h) => h['x-mine'] === 'sk-old',
      'X-Mine',
    ],
    [
      'the one header as API key',
      'header',
      { authType: 'API_KEY' },
      (h) => h['x-api-key'] === 'sk-old' && !h['x-own'],
      null,
    ],
    [
      'a credential where there was none',
      'none',
      { authType: 'API_KEY', authValue: 'n' },
      (h) => h['x-api-key'] === 'n',
      null,
    ],
    [
      'another header of the API key',
      'key',
      { authHeaderName: 'X-Mine' },
      (h) => h['x-mine'] === 'sk-old' && !h['x-api-key'],
      null,
    ],
    [
      'the usual header of the API key',
      'ownKey',
      { authHeaderName: null },
      (h) => h['x-api-key'] === 'sk-old' && !h['x-own'],
      null,
    ],
    [
      'a new API key in its own header',
      'ownKey',
      { authValue: 'sk-new' },
      (h) => h['x-own'] === 'sk-new' && !h['x-api-key'],
      null,
    ],
    ['no credential any more', 'bearer', { authType: 'NONE' }, (h) => !h.authorization, null],
  ])('%s is used at once: the tools are discovered again', async (_what, way, change, sees, headerName) => {
    const before = await registered(way);
    server.settings.authorize = sees;
    server.settings.tools = { echo: undefined, more: undefined };
    const { status, body, text } = await update(before.publicId, change);
    expect([status, body.status, body.errorMessage, body.authHeaderName]).toEqual([200, 'CONNECTED', null, headerName]);
    expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['echo', 'more']);
    expect(body.tools[0].id).toBe(before.tools[0]?.id);
    expect(body.lastDiscoveredAt).toBe(clock.now().toISOString());
    expect(text).not.toMatch(/sk-/);
    expect(server.seen).toHaveLength(5);
    expect(await readMcp(app, before.publicId)).toEqual(body);
    expect((await storedOf(before.publicId))?.credential === null).toBe(body.authType === 'NONE');
  });

  test('a new address of the same origin is discovered with the stored credential', async () => {
    const { publicId, tools } = await registered('key');
    server.settings.authorize = (h) => h['x-api-key'] === 'sk-old';
    server.settings.tools = { echo: 'Elsewhere' };
    const url = `${server.url}?tenant=7`;
    const { status, body } = await update(publicId, { url, name: 'Moved' });
    expect([status, body.status, body.url, body.name]).toEqual([200, 'CONNECTED', url, 'Moved']);
    expect(body.tools).toEqual([{ ...tools[0], description: 'Elsewhere' }]);
  });

  test.each<[string, object, (h: IncomingHttpHeaders) => boolean]>([
    ['key', { authValue: 'sk-new' }, (h) => h['x-api-key'] === 'sk-new'],
    ['bearer', { authType: 'NONE' }, (h) => !h.authorization],
    ['header', { authValue: 'sk-new' }, (h) => h['x-own'] === 'sk-new'],
    ['headers', { authHeaders: [{ name: 'X-New', value: 'n' }] }, (h) => h['x-new'] === 'n'],
    ['none', {}, () => true],
  ])('a new origin is discovered with the credential of the same request (%s)', async (way, change, authorize) => {
    const { publicId } = await registered(way);
    const other = await startMcpServer(certificate, { tools: { echo: 'Elsewhere' }, authorize });
    const { status, body } = await update(publicId, { url: other.url, ...change });
    expect([status, body.status, body.url]).toEqual([200, 'CONNECTED', other.url]);
    expect(server.seen).toEqual([]);
    expect(JSON.stringify(other.seen)).not.toContain('sk-old');
    await other.close();
  });

  test('a failed discovery sets status ERROR; the known tools stay listed, the new credential is stored', async () => {
    const before = await registered('key');
    server.settings.authorize = (h) => h['x-api-key'] === 'sk-late';
    const { status, body, text } = await update(before.publicId, { authValue: 'sk-late-typo' });
    expect([status, body.status]).toEqual([200, 'ERROR']);
    expect(body).toMatchObject({ tools: before.tools, lastDiscoveredAt: before.lastDiscoveredAt });
    expect(body.errorMessage).toMatch(/HTTP 401/);
    expect(text).not.toContain('sk-late');
    expect((await update(before.publicId, { authValue: 'sk-late' })).body).toMatchObject({
      status: 'CONNECTED',
      errorMessage: null,
    });
  });

  test('a discovery of an address that was changed meanwhile does not overwrite the result of the new one', async () => {
    const { publicId } = await registered('none');
    const [reached, release] = [gate(), gate()];
    const slow = await startRawMcp(certificate, async ({ method, result }) => {
      if (method !== 'tools/list') return false;
      reached.open();
      await release.passed;
      return result({ tools: [tool('of the slow one')] });
    });
    const first = update(publicId, { url: slow.origin }).then((answer) => answer);
    await reached.passed;
    expect(await readMcp(app, publicId)).toMatchObject({
      status: 'PENDING',
      url: slow.origin,
      tools: [{ name: 'echo' }],
    });
    const second = await update(publicId, { url: server.url });
    expect(second.body).toMatchObject({ status: 'CONNECTED', url: server.url, tools: [{ name: 'echo' }] });
    release.open();
    expect((await first).body).toEqual(second.body);
    expect(await readMcp(app, publicId)).toEqual(second.body);
    await slow.close();
  });

  test('nor does it while the discovery of the new address still runs', async () => {
    const { publicId } = await registered('none');
    const held = async (name: string) => {
      const [reached, release] = [gate(), gate()];
      const raw = await startRawMcp(certificate, async ({ method, result }) => {
        if (method !== 'tools/list') return false;
        reached.open();
        await release.passed;
        return result({ tools: [tool(name)] });
      });
      const answer = update(publicId, { url: raw.origin }).then((answered) => answered);
      await reached.passed;
      return { raw, release, answer };
    };
    const first = await held('first');
    const second = await held('second');
    first.release.open();
    expect((await first.answer).body).toMatchObject({
      status: 'PENDING',
      url: second.raw.origin,
      tools: [{ name: 'echo' }],
    });
    second.release.open();
    expect((await second.answer).body).toMatchObject({ status: 'CONNECTED', tools: [{ name: 'second' }] });
    await Promise.all([first.raw.close(), second.raw.close()]);
  });

  test('the row is not locked while the server is called', async () => {
    const { publicId } = await registered('none');
    const [reached, release] = [gate(), gate()];
    const slow = await startRawMcp(certificate, async ({ method }) => {
      if (method === 'initialize') {
        reached.open();
        await release.passed;
      }
      return false;
    });
    const waiting = update(publicId, { url: slow.origin }).then((answer) => answer);
    await reached.passed;
    expect((await update(publicId, { name: 'Meanwhile' })).status).toBe(200);
    release.open();
    expect((await waiting).body).toMatchObject({ status: 'CONNECTED', name: 'Meanwhile' });
    await slow.close();
  });

  test('a credential that cannot be read any more can be replaced', async () => {
    const { publicId } = await registered('key');
    const { db, workspaceId } = app.workspace;
    const damaged = { credential: Buffer.from('no secret') };
    await db
      .updateTable('external_mcps')
      .set(damaged)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', publicId)
      .execute();
    expect((await update(publicId, { authType: 'BEARER_TOKEN' })).status).toBe(400);
    expect((await update(publicId, { name: 'Still here' })).status).toBe(200);
    expect((await update(publicId, { authValue: 'sk-new' })).body.status).toBe('CONNECTED');
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each<[string, string, object, string]>([
    ['an API key that nobody has', 'none', { authType: 'API_KEY' }, '/body/authValue'],
    ['a bearer token that nobody has', 'headers', { authType: 'BEARER_TOKEN' }, '/body/authValue'],
    ['headers that nobody has', 'key', { authType: 'CUSTOM_HEADER' }, '/body/authHeaders'],
    ['a value for headers in a list', 'headers', { authValue: 'n' }, '/body/authHeaderName'],
    ['taking the one header away with nothing in its place', 'header', { authHeaderName: null }, '/body/authHeaders'],
    ['a value without the one header', 'header', { authHeaderName: null, authValue: 'n' }, '/body/authHeaderName'],
    ['a name without a value', 'headers', { authHeaderName: 'X-One' }, '/body/authValue'],
    ['headers that the type does not use', 'key', { authHeaders: [{ name: 'X-K', value: 'v' }] }, '/body/authHeaders'],
    ['a name that the type does not use', 'bearer', { authHeaderName: 'X-K' }, '/body/authHeaderName'],
    ['a value that NONE does not use', 'key', { authType: 'NONE', authValue: 'v' }, '/body/authValue'],
    ['a reserved header', 'headers', { authHeaders: [{ name: 'Host', value: 'v' }] }, '/body/authHeaders/0/name'],
    ['a reserved name', 'header', { authHeaderName: 'mcp-session-id' }, '/body/authHeaderName'],
    ['a password in the address', 'none', { url: 'https://a:b@mcp.example.com' }, '/body/url'],
    ['plain HTTP', 'none', { url: 'http://mcp.example.com' }, '/body/url'],
  ])('refuses %s', async (_what, way, change, path) => {
    const { publicId } = await registered(way);
    const before = await storedOf(publicId);
    const { status, body } = await update(publicId, { name: 'Not kept', ...change });
    expect([status, body.code, body.details.map((each: { path: string }) => each.path)]).toEqual([
      400,
      'VALIDATION_ERROR',
      [path],
    ]);
    expect(await storedOf(publicId)).toEqual(before);
    expect(server.seen).toEqual([]);
  });
});

describe('400 VALIDATION_ERROR: the stored credential does not go to another origin', () => {
  const FIELD = { headers: '/body/authHeaders' } as Record<string, string>;
  test.each([
    ['key', {}],
    ['bearer', {}],
    ['header', {}],
    ['headers', {}],
    ['key', { authType: 'BEARER_TOKEN' }],
    ['key', { authType: 'CUSTOM_HEADER', authHeaderName: 'X-Mine' }],
    ['header', { authHeaderName: 'X-Other' }],
    ['headers', { authHeaders: null }],
  ])('of %s with %j', async (way, change) => {
    const { publicId } = await registered(way);
    const before = await storedOf(publicId);
    const other = await startMcpServer(certificate, { tools: {} });
    const { status, body } = await update(publicId, { url: other.url, ...change });
    expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.details).toMatchObject([{ path: FIELD[way] ?? '/body/authValue' }]);
    expect(body.details[0].message).toMatch(/another origin .* Send the credential again\.$/);
    expect(await storedOf(publicId)).toEqual(before);
    expect(other.seen).toEqual([]);
    await other.close();
  });

  test.each([
    ['another scheme', (url: URL) => Object.assign(url, { protocol: 'http:' }), 'pattern'],
    ['another port', (url: URL) => Object.assign(url, { port: '8443' }), 'required'],
    ['another host', (url: URL) => Object.assign(url, { hostname: 'localhost' }), 'required'],
    [
      'a host below the present one',
      (url: URL) => Object.assign(url, { hostname: 'localhost.example.com' }),
      'required',
    ],
  ])('%s is another origin', async (_what, change, keyword) => {
    const { publicId } = await registered('key');
    const { status, body } = await update(publicId, { url: change(new URL(server.url)).href });
    expect([status, body.details[0].keyword]).toEqual([400, keyword]);
    expect(server.seen).toEqual([]);
  });
});

describe('404 EXTERNAL_MCP_NOT_FOUND', () => {
  test("a deleted one and another workspace's are treated as one that does not exist", async () => {
    const deleted = await storeMcp(app.workspace);
    await app.api('delete', `/external-mcps/${deleted}`).expect(204);
    const foreign = await storeMcp(app.stranger, { name: 'Theirs' });
    const missing = await update(newId(), { name: 'Mine' });
    expect([missing.status, missing.body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    for (const id of [deleted, foreign]) {
      const answer = await update(id, { name: 'Mine' });
      expect(answer.status).toBe(404);
      expect(withoutRequestId(answer.body)).toEqual(withoutRequestId(missing.body));
    }
    expect((await readMcp(app, foreign, app.stranger.apiKey)).name).toBe('Theirs');
  });

  test('a server that is deleted during a discovery stays deleted', async () => {
    const { publicId } = await registered('none');
    const raw = await startRawMcp(certificate, async ({ method }) => {
      if (method === 'initialize') await app.api('delete', `/external-mcps/${publicId}`);
      return false;
    });
    const { status, body } = await update(publicId, { url: raw.origin });
    expect([status, body.code]).toEqual([404, 'EXTERNAL_MCP_NOT_FOUND']);
    expect((await storedOf(publicId))?.deleted_at).not.toBeNull();
    await raw.close();
  });
});

describe('409 EXTERNAL_MCP_NAME_TAKEN', () => {
  test('nothing is changed, and the server is not called', async () => {
    const other = await registered('none');
    const { publicId } = await registered('key');
    const before = await storedOf(publicId);
    const { status, body } = await update(publicId, { name: other.name, authValue: 'sk-new' });
    expect([status, body.code]).toEqual([409, 'EXTERNAL_MCP_NAME_TAKEN']);
    expect(await storedOf(publicId)).toEqual(before);
    expect(server.seen).toEqual([]);
  });

  test('of two at the same time one gets the name', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => storeMcp(app.workspace)));
    const answers = await Promise.all(ids.map((id) => update(id, { name: 'The one' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe('422 OAUTH_NOT_SUPPORTED_VIA_API', () => {
  test('nothing is changed', async () => {
    const { publicId } = await registered('key');
    const before = await storedOf(publicId);
    const { status, body } = await update(publicId, { name: 'OAuth', authType: 'OAUTH_AUTHORIZATION_CODE' });
    expect([status, body.code]).toEqual([422, 'OAUTH_NOT_SUPPORTED_VIA_API']);
    expect(await storedOf(publicId)).toEqual(before);
    expect(server.seen).toEqual([]);
  });
});
