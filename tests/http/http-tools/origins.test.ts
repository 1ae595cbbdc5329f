import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeTool, startToolServer, type ToolServer, tryTool } from '../../support/tools/httpTools.ts';

/** A stored secret goes only to the origin that it was given for, however the tool is changed. */

const SECRET = 'st-live-7Qm2-secret';
let app: TestApp;
let server: ToolServer;
/** Whoever may change a tool may run such a server. */
let attacker: ToolServer;
beforeAll(async () => {
  [server, attacker] = await Promise.all([startToolServer(), startToolServer()]);
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterEach(() => {
  expect(JSON.stringify(attacker.received)).not.toContain(SECRET);
  for (const each of [server, attacker]) each.received.length = 0;
});
afterAll(() => Promise.all([app.close(), server.close(), attacker.close()]));

const update = (id: string, configuration: object) => app.api('patch', `/http-tools/${id}`).send({ configuration });
const portOf = ({ origin }: ToolServer) => new URL(origin).port;

async function expectWithheld(id: string, configuration: object, pointers: string[]) {
  const before = (await app.api('get', `/http-tools/${id}`)).body;
  const { status, body } = await update(id, configuration);
  expect([status, body.code]).toEqual([422, 'INVALID_TOOL_CONFIGURATION']);
  expect(body.details.map(({ path }: { path: string }) => path)).toEqual(
    pointers.map((each) => `/body/configuration${each}`),
  );
  expect(body.details[0].message).toMatch(/another origin .* Send the value again$/);
  expect((await app.api('get', `/http-tools/${id}`)).body).toEqual(before);
}

describe('HTTP_REQUEST', () => {
  const headers = { 'x-token': '{{secret.token}}' };
  const make = (configuration: object) =>
    makeTool(app, { configuration: { headers, secrets: { token: SECRET }, ...configuration } });

  test.each([
    ['port', () => `${attacker.origin}/orders`],
    ['scheme', () => server.origin.replace('http:', 'https:')],
    ['host', () => `http://localhost:${portOf(server)}/orders`],
    ['host that begins with the old one', () => `http://127.0.0.1.example.com:${portOf(server)}/`],
  ])('another %s keeps no secret', async (_what, url) => {
    const { publicId } = await make({ url: `${server.origin}/orders` });
    await expectWithheld(publicId, { url: url(), headers, secrets: { token: '********' } }, ['/secrets/token']);
    await tryTool(app, publicId);
    expect(server.received.at(-1)?.headers['x-token']).toBe(SECRET);
  });

  test('another path, query, method or header of the same origin keeps it', async () => {
    const { publicId } = await make({ url: `${server.origin}/orders` });
    const url = `${server.origin.replace('http', 'HTTP')}/other?a=1`;
    const changed = { url, method: 'POST', headers: { 'x-other': '{{secret.token}}' }, secrets: { token: '********' } };
    expect((await update(publicId, changed)).status).toBe(200);
    await tryTool(app, publicId);
    expect(server.received.at(-1)).toMatchObject({ url: '/other?a=1', headers: { 'x-other': SECRET } });
  });

  test('another origin takes the secret that is sent with it', async () => {
    const { publicId } = await make({ url: `${server.origin}/orders` });
    const changed = { url: attacker.origin, headers, secrets: { token: 'new-for-there' } };
    expect((await update(publicId, changed)).status).toBe(200);
    await tryTool(app, publicId);
    expect(attacker.received.at(-1)?.headers['x-token']).toBe('new-for-there');
  });

  test('an origin that is a secret itself counts by its value', async () => {
    const url = '{{secret.base}}/orders';
    const { publicId } = await make({ url, secrets: { token: SECRET, base: server.origin } });
    const moved = { url, headers, secrets: { token: '********', base: attacker.origin } };
    await expectWithheld(publicId, moved, ['/secrets/token']);
    const kept = { url: '{{secret.base}}/other', headers, secrets: { token: '********', base: '********' } };
    expect((await update(publicId, kept)).status).toBe(200);
    const host = {
      url: `http://{{secret.host}}:${portOf(server)}/`,
      headers,
      secrets: { token: '********', host: 'localhost' },
    };
    await expectWithheld(publicId, host, ['/secrets/token']);
  });

  test('a tool that lost its secrets to another origin does not get them back', async () => {
    const { publicId, configuration } = await make({ url: server.origin });
    expect((await update(publicId, { url: attacker.origin })).status).toBe(200);
    const { status, body } = await update(publicId, configuration);
    expect([status, body.code]).toEqual([422, 'INVALID_TOOL_CONFIGURATION']);
  });

  test.each(['user-agent', 'Accept', 'accept-language', 'x-token'])(
    'a redirect to another origin does not take a secret in %s along',
    async (name) => {
      server.on('/away', (_received, response) => response.writeHead(302, { location: `${attacker.origin}/` }).end());
      const { publicId } = await make({ url: `${server.origin}/away`, headers: { [name]: '{{secret.token}}' } });
      await tryTool(app, publicId);
      expect(server.received.at(-1)?.headers[name.toLowerCase()]).toBe(SECRET);
      expect(attacker.received).toHaveLength(1);
    },
  );
});

describe('CUSTOM_INTEGRATION', () => {
  const openapi = (origin: string, operation = {}) => ({
    openapi: '3.1.0',
    servers: [{ url: origin }],
    paths: { '/ping': { get: { operationId: 'ping', ...operation } } },
  });
  const auth = { type: 'bearer', secret: SECRET };
  const make = (fields: object) =>
    makeTool(app, {
      toolType: 'CUSTOM_INTEGRATION',
      configuration: { openapi: openapi(server.origin), operations: ['ping'], auth, ...fields },
    });

  test.each([
    ['a baseUrl', () => ({ baseUrl: attacker.origin })],
    ['a document', () => ({ openapi: openapi(attacker.origin) })],
    ['a server of the operation', () => ({ openapi: openapi(server.origin, { servers: [{ url: attacker.origin }] }) })],
    [
      'a server variable',
      () => ({
        openapi: {
          ...openapi('{base}'),
          servers: [{ url: '{base}', variables: { base: { default: attacker.origin } } }],
        },
      }),
    ],
    [
      'another type of auth as well',
      () => ({ baseUrl: attacker.origin, auth: { type: 'header', headerName: 'X-Mine', secret: '********' } }),
    ],
  ])('%s of another origin keeps no secret', async (_what, change) => {
    const { publicId, configuration } = await make({});
    await expectWithheld(publicId, { ...configuration, ...change() }, ['/auth/secret']);
  });

  test('an operation is called at its own server, and basic authentication is a header', async () => {
    const secret = 'Basic YWRhOnB3';
    const { publicId } = await make({
      openapi: openapi('https://api.example.com', { servers: [{ url: `${server.origin}/uploads` }] }),
      auth: { type: 'header', headerName: 'Authorization', secret },
    });
    await tryTool(app, publicId);
    expect(server.received.at(-1)).toMatchObject({ url: '/uploads/ping', headers: { authorization: secret } });
  });

  test('another baseUrl of the same origin keeps it', async () => {
    const { publicId, configuration } = await make({});
    expect((await update(publicId, { ...configuration, baseUrl: `${server.origin}/v2` })).status).toBe(200);
    await tryTool(app, publicId);
    expect(server.received.at(-1)).toMatchObject({ url: '/v2/ping', headers: { authorization: `Bearer ${SECRET}` } });
  });

  test('a redirect to another origin does not take a secret in a header that is otherwise kept', async () => {
    server.on('/ping', (_received, response) => response.writeHead(302, { location: `${attacker.origin}/` }).end());
    const { publicId } = await make({ auth: { type: 'header', headerName: 'User-Agent', secret: SECRET } });
    await tryTool(app, publicId);
    expect(attacker.received).toHaveLength(1);
  });
});

test('DATABASE_QUERY: another host is another address, which has its own password', async () => {
  const configuration = { connection: `postgres://me:${SECRET}@127.0.0.1:1/shop`, query: 'select 1' };
  const { publicId } = await makeTool(app, { toolType: 'DATABASE_QUERY', configuration });
  const { status, body } = await update(publicId, {
    ...configuration,
    connection: `postgres://me:********@localhost:${portOf(attacker)}/shop`,
  });
  expect([status, body.configuration.connection]).toEqual([200, '********']);
  await tryTool(app, publicId);
});
