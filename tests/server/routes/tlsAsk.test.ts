import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ hubDomain: 'hubs.example.com' });
  await app.api('put', '/hub/domain').send({ subdomain: 'gone' }).expect(200);
  await app.api('put', '/hub/domain').send({ subdomain: 'acme' }).expect(200);
  const { workspaceId: workspace_id, db } = app.workspace;
  const domain = { workspace_id, kind: 'domain' as const, token: 'x' };
  await db
    .insertInto('hub_names')
    .values({ ...domain, name: 'proven.example', verified_at: new Date() })
    .execute();
  await db
    .insertInto('hub_names')
    .values({ ...domain, name: 'claimed.example' })
    .execute();
});
afterAll(() => app.close());

const ask = async (query: string, headers: Record<string, string> = {}) =>
  (await app.raw.get(`/internal/tls-ask${query}`).set(headers)).status;

test.each([
  ['?domain=acme.hubs.example.com', 200],
  ['?domain=ACME.hubs.example.com.', 200],
  ['?domain=proven.example', 200],
  ['?domain=claimed.example', 404],
  ['?domain=gone.hubs.example.com', 404],
  ['?domain=other.hubs.example.com', 404],
  ['?domain=hubs.example.com', 404],
  ['?domain=a.acme.hubs.example.com', 404],
  ['?domain=www.proven.example', 404],
  ['?domain=acme', 404],
  ['?domain=127.0.0.1', 404],
  ['?domain=*.hubs.example.com', 404],
  ['?domain=', 404],
  ['', 404],
  ['?domain=proven.example&domain=claimed.example', 404],
  [`?domain=${'a'.repeat(5000)}.example`, 404],
  ['?domain=%00', 404],
])('%s is answered with %i', async (query, status) => {
  expect(await ask(query)).toBe(status);
});

test.each<Record<string, string>>([
  { 'X-Forwarded-For': '203.0.113.9' },
  { Forwarded: 'for=127.0.0.1' },
  { 'X-Real-IP': '127.0.0.1' },
  { Via: '1.1 proxy' },
  { Host: 'agents.example.com' },
])('a request that a proxy passes on is refused: %j', async (headers) => {
  expect(await ask('?domain=proven.example', headers)).toBe(404);
});

test('a hub of a deleted workspace gets no certificate', async () => {
  const { workspaceId, apiKey } = await app.database.seedWorkspace();
  await app.api('put', '/hub/domain', apiKey).send({ subdomain: 'deleted' }).expect(200);
  expect(await ask('?domain=deleted.hubs.example.com')).toBe(200);
  const { system } = app.database.database;
  await system.updateTable('workspaces').set({ deleted_at: new Date() }).where('id', '=', workspaceId).execute();
  expect(await ask('?domain=deleted.hubs.example.com')).toBe(404);
});

test('another machine is refused, whatever its headers say', async () => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
  const localAddress = outside ?? '127.0.0.2';
  const { port } = new URL(app.origin);
  // From an address of this machine that is not its loopback address, where it has one.
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const path = '/internal/tls-ask?domain=proven.example';
    request({ host: '127.0.0.1', port, path, localAddress }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(outside ? 404 : 200);
});
