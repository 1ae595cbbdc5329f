import { connect } from 'node:net';
import { pino } from 'pino';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { openHub } from '../../../support/hub/hubs.ts';

const log: { requestId?: string; operationId?: string; status?: number }[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) });
let app: TestApp;
let limited: TestApp;
beforeAll(async () => {
  app = await startTestApp({ logger, hubDomain: 'hubs.test' });
  limited = await startTestApp({ rateLimit: 3, database: app.database });
  await openHub(app.database, app.workspace, 'acme', { name: 'Acme' });
  await app.workspace.db
    .insertInto('hub_names')
    .values({
      workspace_id: app.workspace.workspaceId,
      kind: 'domain',
      token: 'proof',
      name: 'agents.acme.test',
      verified_at: new Date(),
    })
    .execute();
});
afterAll(async () => {
  await limited.close();
  await app.close();
});
beforeEach(() => {
  log.length = 0;
});

const ACCEPT = 'application/json, text/event-stream';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'agents__list_agents', arguments: {} } };

/** A request to `/mcp`, with the workspace's key. */
function post(headers: Record<string, string> = {}, path = '/mcp', service = app) {
  return service.raw.post(path).set({ 'X-Api-Key': app.workspace.apiKey, Accept: ACCEPT, ...headers });
}

/** The error of JSON-RPC that a refusal has. */
function errorOf({ status, body }: { status: number; body: { error?: { code: number; data?: { code?: string } } } }) {
  return [status, body.error?.code, body.error?.data?.code];
}

describe('the key', () => {
  test('is taken as bearer and in the API’s own header', async () => {
    const bearer = app.raw.post('/mcp').set({ Authorization: `Bearer ${app.workspace.apiKey}`, Accept: ACCEPT });
    expect((await bearer.send(LIST)).status).toBe(200);
    expect((await post().send(LIST)).status).toBe(200);
  });

  test('is demanded with a challenge, and an error that the protocol’s clients read', async () => {
    for (const [headers, code] of [
      [{}, 'MISSING_API_KEY'],
      [{ Authorization: `Bearer ${app.workspace.apiKey.slice(0, -1)}` }, 'INVALID_API_KEY_FORMAT'],
      [{ Authorization: 'Basic abc' }, 'MISSING_API_KEY'],
    ] as const) {
      const answer = await app.raw
        .post('/mcp')
        .set({ Accept: ACCEPT, ...headers })
        .send(LIST);
      expect(errorOf(answer)).toEqual([401, -32_000, code]);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="guildhall"');
      expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: null });
    }
  });
});

describe('who may send', () => {
  test.each([
    ['a page of another site', { Origin: 'https://evil.example' }],
    ['a page without an origin', { Origin: 'null' }],
    ['an origin that is no address', { Origin: 'evil' }],
    ['an address that only looks like this machine', { Origin: 'http://localhost.evil.example' }],
    ['a name that leads here by another site’s will', { Host: 'evil.example' }],
    ['the same with a port', { Host: 'evil.example:3000' }],
  ])('%s is refused before its key is looked at', async (_name, headers) => {
    const answer = await post({ ...headers, 'X-Api-Key': 'wrong' }).send(LIST);
    expect([answer.status, answer.body.error.code]).toEqual([403, -32_000]);
  });

  test.each([
    ['this machine', { Host: 'localhost:3000', Origin: 'http://localhost:6274' }],
    ['an address', { Host: '10.1.2.3:3000' }],
    ['an address of IPv6', { Host: '[::1]:3000', Origin: 'http://[::1]:9' }],
    ['a name within a network', { Host: 'guildhall:3000' }],
  ])('%s may', async (_name, headers) => {
    expect((await post(headers).send(LIST)).status).toBe(200);
  });

  test('the public address may, and its pages may', async () => {
    const { publicUrl } = app.service.runtime;
    app.service.runtime.publicUrl = 'https://guildhall.example/behind';
    try {
      const own = { Host: 'guildhall.example', Origin: 'https://guildhall.example' };
      expect((await post(own).send(LIST)).status).toBe(200);
      expect((await post({ ...own, Origin: 'http://guildhall.example' }).send(LIST)).status).toBe(403);
    } finally {
      app.service.runtime.publicUrl = publicUrl;
    }
  });

  test('no host of a hub has it', async () => {
    for (const Host of ['acme.hubs.test', 'agents.acme.test', 'nobody.hubs.test'])
      for (const path of ['/mcp', '/mcp/agents/x']) {
        const answer = await post({ Host }, path).send(LIST);
        expect([answer.status, answer.type]).toEqual([404, 'text/html']);
      }
  });
});

describe('what a request may be', () => {
  test('there are no sessions to listen to or to end', async () => {
    for (const method of ['get', 'delete', 'put', 'patch', 'options'] as const) {
      const answer = await app.raw[method]('/mcp').set({ 'X-Api-Key': app.workspace.apiKey, Accept: ACCEPT });
      expect(errorOf(answer)).toEqual([405, -32_000, 'METHOD_NOT_ALLOWED']);
      expect(answer.headers.allow).toBe('POST');
    }
    expect((await post().send(LIST)).headers).not.toHaveProperty('mcp-session-id');
  });

  test('there is nothing below it but agents', async () => {
    for (const path of ['/mcp/x', '/mcp/agents', '/mcp/agents/', '/mcp/agents/x/y'])
      expect(errorOf(await post({}, path).send(LIST))).toEqual([404, -32_000, 'NOT_FOUND']);
  });

  test.each([
    ['text', { 'Content-Type': 'text/plain' }, 415],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
    ['packed', { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }, 415],
  ])('a body that is %s is refused', async (_name, headers, status) => {
    const answer = await post(headers as Record<string, string>).send(JSON.stringify(LIST));
    expect([answer.status, typeof answer.body.error.code]).toEqual([status, 'number']);
  });

  test('JSON that cannot be read or is no message is the protocol’s own error', async () => {
    const json = { 'Content-Type': 'application/json' };
    for (const body of ['{', '', '\u0000', '"\ud800'])
      expect(errorOf(await post(json).send(body)).slice(0, 2)).toEqual([400, -32_700]);
    for (const body of ['null', '1', '[]', '{}', '{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0","id":1,"method":"ping"}']) {
      const answer = await post(json).send(body);
      expect([body, answer.status]).toEqual([body, 400]);
    }
  });

  test('JSON that is deep, wide or large is refused before it is parsed', async () => {
    const json = { 'Content-Type': 'application/json' };
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(errorOf(await post(json).send(nested)).slice(0, 2)).toEqual([400, -32_600]);
    const wide = JSON.stringify(Array.from({ length: 70_000 }, () => 0));
    expect(errorOf(await post(json).send(wide)).slice(0, 2)).toEqual([400, -32_600]);
    const large = JSON.stringify({ ...LIST, params: { x: 'x'.repeat(9 * 1024 * 1024) } });
    expect(errorOf(await post(json).send(large))).toEqual([413, -32_000, 'PAYLOAD_TOO_LARGE']);
  });

  test('batches, which the protocol had once, are answered; large ones are refused', async () => {
    const batch = [1, 2].map((id) => ({ ...CALL, id }));
    const answer = await post({ 'MCP-Protocol-Version': '2025-03-26' }).send(batch);
    expect(answer.status).toBe(200);
    expect(answer.text.match(/"id":[12]/g)?.sort()).toEqual(['"id":1', '"id":2']);
    const large = Array.from({ length: 21 }, (_, id) => ({ ...CALL, id }));
    expect(errorOf(await post().send(large))).toEqual([400, -32_000, 'VALIDATION_ERROR']);
    expect(log.filter(({ operationId }) => operationId === 'listAgents')).toHaveLength(2);
  });

  test('versions of the protocol that do not exist are refused, with those that do', async () => {
    for (const version of ['1999-01-01', '2099-01-01', 'x'.repeat(5_000)]) {
      const answer = await post({ 'MCP-Protocol-Version': version }).send(LIST);
      expect(answer.status).toBe(400);
      expect(answer.body.error.message).toBeTruthy();
    }
    const old = await post().send({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    });
    expect(old.text).toContain('"protocolVersion":"2025-11-25"');
  });

  test('the query chooses among the tools, and is refused when it names what does not exist', async () => {
    const names = async (query: string) =>
      [...(await post({}, `/mcp?${query}`).send(LIST)).text.matchAll(/"name":"([a-z_]+__[a-z_]+)"/g)].map(
        ([, name]) => name,
      );
    expect(await names('tools=agents__list_agents,agents__get_agent')).toEqual([
      'agents__list_agents',
      'agents__get_agent',
    ]);
    expect((await names('tags=conversations&read_only=true')).every((name) => /__(list|get)_/.test(name ?? ''))).toBe(
      true,
    );
    for (const query of ['tags=nothing', 'read_only=yes', 'mode=some', 'tag=agents']) {
      const answer = await post({}, `/mcp?${query}`).send(LIST);
      expect([query, ...errorOf(answer).slice(0, 2)]).toEqual([query, 400, -32_000]);
    }
  });
});

describe('what is counted', () => {
  test('a call is one request of the API, with the id of its own request', async () => {
    const answer = await post({ 'X-Request-Id': 'from-the-client' }).send(CALL);
    expect(answer.headers['x-request-id']).toBe('from-the-client');
    expect(log.map(({ requestId, operationId, status }) => [requestId, operationId, status])).toEqual([
      ['from-the-client', 'listAgents', 200],
      ['from-the-client', 'mcp', 200],
    ]);
  });

  test('a limit counts each call once, and says so in the protocol', async () => {
    for (let count = 0; count < 3; count += 1) {
      const answer = await post({}, '/mcp', limited).send(CALL);
      expect(answer.text).not.toContain('RATE_LIMITED');
    }
    const over = await post({}, '/mcp', limited).send(CALL);
    expect(errorOf(over)).toEqual([429, -32_000, 'RATE_LIMITED']);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect((await limited.api('get', '/health', app.workspace.apiKey)).status).toBe(429);
  });
});

test('a service that is on its way out says so in the protocol', async () => {
  app.service.setReady(false);
  try {
    const answer = await post().send(LIST);
    expect(errorOf(answer)).toEqual([503, -32_000, 'UNAVAILABLE']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  } finally {
    app.service.setReady(true);
  }
});

test('who begins a request and leaves takes no place', async () => {
  const { port } = new URL(app.origin);
  for (let count = 0; count < 250; count += 1) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${app.workspace.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      () => socket.destroy(),
    );
    await new Promise((resolve) => socket.once('close', resolve));
  }
  expect((await post().send(CALL)).status).toBe(200);
});
