import { mintApiKey } from '../../core/apiKey.ts';
import { connectDatabase } from '../../db/connect.ts';
import { revokeApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import { pending } from '../../generated/handlers.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/db/databaseProxy.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest, operationIds } from '../support/http/exampleRequest.ts';
import { until } from '../support/poll.ts';

/** The database goes away under a running service, and comes back. */

const SKILL = '---\nname: outage\ndescription: What to do in an outage.\n---\nWait.\n';
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"/>';

let direct: TestDatabase;
let proxy: DatabaseProxy;
let app: TestApp;
let through: ReturnType<typeof connectDatabase>;

beforeAll(async () => {
  direct = await createTestDatabase();
  proxy = await startDatabaseProxy(direct.url);
  through = connectDatabase(proxy.url);
  app = await startTestApp({ database: { ...direct, database: through } });
});

afterAll(async () => {
  await app.close();
  await through.end();
  await proxy.cut();
  await direct.drop();
});

describe('503', () => {
  beforeAll(async () => {
    // Both keys are known now, so that the outage meets the operations and not only the key's check.
    for (const { apiKey } of [app.workspace, app.stranger])
      expect((await app.api('get', '/agents', apiKey)).status).toBe(200);
    await proxy.cut();
  });
  afterAll(async () => {
    await proxy.mend();
    await until(async () => (await app.raw.get('/readyz')).status === 200);
  });

  /** What these answer is data of the program, or of the toolkits that are built in. */
  const withoutDatabase = [
    'getHealth',
    'listChannelTypes',
    'getChannelType',
    'listNativeMcpTriggers',
    'getNativeMcpTrigger',
  ];
  const needDatabase = operationIds.filter((id) => !pending.includes(id) && !withoutDatabase.includes(id));

  test.each(needDatabase)('%s says that it is unavailable and when to come back', async (id) => {
    const { method, path, body } = exampleRequest(id);
    const request = app.api(method, path);
    if (id === 'uploadHubLogo') request.attach('file', Buffer.from(LOGO), 'logo.svg');
    else if (id === 'uploadSkill') request.attach('file', Buffer.from(SKILL), 'SKILL.md');
    else if (body !== undefined) request.send(body as object);
    const answer = await request;
    expect([answer.status, answer.body.code, answer.body.details]).toEqual([503, 'UNAVAILABLE', []]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|terminated/);
  });

  test('a key that has to be looked up is not called wrong', async () => {
    const answer = await app.api('get', '/health', mintApiKey());
    expect([answer.status, answer.body.code]).toEqual([503, 'UNAVAILABLE']);
  });

  test('the MCP server says so in its protocol, and what its tools need is a tool error', async () => {
    const post = (key: string) =>
      app.raw.post('/mcp').set({ 'X-Api-Key': key, Accept: 'application/json, text/event-stream' });
    const params = { name: 'agents__list_agents', arguments: {} };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const unknown = await post(mintApiKey()).send(call);
    expect([unknown.status, unknown.body.error.data.code]).toEqual([503, 'UNAVAILABLE']);
    expect(Number(unknown.headers['retry-after'])).toBeGreaterThan(0);
    const known = await post(app.workspace.apiKey).send(call);
    expect([known.status, known.text]).toEqual([200, expect.stringContaining('UNAVAILABLE')]);
  });

  test('an invalid request still gets its 400', async () => {
    expect((await app.api('get', '/agents?limit=0')).status).toBe(400);
  });

  test('readyz says no, livez says yes', async () => {
    expect((await app.raw.get('/readyz')).status).toBe(503);
    expect((await app.raw.get('/livez')).status).toBe(200);
  });
});

describe('afterwards', () => {
  test('the service is back by itself', async () => {
    expect((await app.api('post', '/agents').send({ name: 'After the outage' })).status).toBe(201);
  });

  test('a key revoked during an outage is refused', async () => {
    const { apiKey, apiKeyId } = await direct.seedWorkspace();
    expect((await app.api('get', '/health', apiKey)).status).toBe(200);
    await proxy.cut();
    await revokeApiKey(direct.database.system, apiKeyId);
    await proxy.mend();
    await until(async () => (await app.raw.get('/readyz')).status === 200);
    await until(async () => (await app.api('get', '/health', apiKey)).status === 401);
  });
});
