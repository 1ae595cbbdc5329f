import type { KyselyPlugin } from 'kysely';
import { pino } from 'pino';
import supertest from 'supertest';
import { newToken } from '../../../../domain/hubs/sessions.ts';
import { HubDirectory, readHost } from '../../../../server/routes/hub/directory.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';
import { makeClient } from '../../../support/hub/clients.ts';
import { openHub } from '../../../support/hub/hubs.ts';

const clock = new TestClock();
const log: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
let app: TestApp;
let byPath: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock, hubDomain: 'hubs.test', logger });
  byPath = await startTestApp({ clock, database: app.database });
  await openHub(app.database, app.workspace, 'acme', { name: 'Acme' });
  await openHub(app.database, app.stranger, 'other', { name: 'Other' });
  const names = { workspace_id: app.workspace.workspaceId, kind: 'domain' as const, token: 'proof' };
  await app.workspace.db
    .insertInto('hub_names')
    .values([
      { ...names, name: 'agents.acme.test', verified_at: new Date() },
      { ...names, name: 'unproven.acme.test' },
      { ...names, name: 'gone.acme.test', verified_at: new Date(), released_at: new Date() },
    ])
    .execute();
});
afterAll(async () => {
  await byPath.close();
  await app.close();
});
beforeEach(() => {
  clock.advance(61_000);
  log.length = 0;
});

const get = (host: string, path = '/pricing') => supertest(app.origin).get(path).set('Host', host).redirects(0);

test('a hub is told by its subdomain, whatever the case and the port, and by a verified domain of its own', async () => {
  for (const host of [
    'acme.hubs.test',
    'ACME.Hubs.Test:8443',
    'acme.hubs.test.',
    'agents.acme.test',
    'Agents.Acme.Test:443',
  ])
    expect((await get(host).expect(200)).text).toContain('– Acme</title>');
  expect((await get('other.hubs.test').expect(200)).text).toContain('– Other</title>');
});

test('hosts that are no hub show none: unknown, unproven, given up, deeper, or the domain itself', async () => {
  for (const host of ['nobody.hubs.test', 'a.acme.hubs.test', 'agents.acme.test.hubs.test']) {
    const { text, type } = await get(host).expect(404);
    expect(type).toBe('text/html');
    expect(text).toContain('There is nothing here');
    expect(text).not.toContain('acme');
  }
  for (const host of ['unproven.acme.test', 'gone.acme.test', 'hubs.test', '127.0.0.1', 'x'.repeat(300)])
    await get(host).expect(404).expect('Content-Type', /json/);
});

test('a subdomain that is taken away leads nowhere from then on, and one that is given leads there at once', async () => {
  await get('late.hubs.test').expect(404);
  await openHub(app.database, await app.database.seedWorkspace(), 'late', {});
  await get('late.hubs.test').expect(200);
  await app.database.database.system
    .updateTable('hub_names')
    .set({ released_at: new Date() })
    .where('name', '=', 'late')
    .execute();
  await get('late.hubs.test').expect(404);
});

test('the service is where it was on its own host and on every other, and not on a host of a hub', async () => {
  await get('machine.internal.test', '/livez').expect(200);
  await get('agents.acme.test', '/livez').expect(200);
  for (const host of ['127.0.0.1', 'machine.internal.test', 'hubs.test']) await get(host, '/openapi.json').expect(200);
  for (const host of ['acme.hubs.test', 'agents.acme.test']) {
    await get(host, '/openapi.json').expect(404).expect('Content-Type', /html/);
    await get(host, '/hub/other/pricing').expect(404).expect('Content-Type', /html/);
  }
  await get('acme.hubs.test', '/files/nothing').expect(404).expect('Content-Type', /json/);
});

test('without a hub domain the pages are below /hub, and their cookie is for this hub only', async () => {
  const { userId } = await makeClient(app.database, app.workspace);
  const { token } = await newToken(app.workspace.db, {
    workspaceId: app.workspace.workspaceId,
    userId,
    kind: 'invitation',
    now: clock.now(),
  });
  const shown = await byPath.raw.get(`/hub/acme/accept/${token}`).expect(200);
  expect(shown.text).toMatch(/<link rel="stylesheet" href="\/hub\/acme\/assets\/hub\.[0-9a-f]{12}\.css">/);
  const accepted = await byPath.raw.post(`/hub/acme/accept/${token}`).type('form').redirects(0).expect(303);
  expect(accepted.headers.location).toBe('/hub/acme/');
  const [cookie = ''] = accepted.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/^hub_session=[0-9a-f]{40}; Path=\/hub\/acme; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
  for (const path of ['/hub/acme', '/hub/acme/']) await byPath.raw.get(path).set('Cookie', cookie).expect(200);
  await byPath.raw
    .get('/hub/other/')
    .set('Cookie', cookie)
    .redirects(0)
    .expect(303)
    .expect('Location', '/hub/other/sign-in');
  for (const path of [
    '/hub',
    '/hub/',
    '/hub/nobody/pricing',
    '/hub/ACME/pricing',
    '/hub/%2e%2e/pricing',
    '/hub/agents.acme.test/pricing',
  ])
    await byPath.raw.get(path).expect(404);
  await byPath.raw.delete('/hub/acme/pricing').expect(405).expect('Allow', 'GET, HEAD');
});

test('nothing that a visitor sends stands in an answer or in the log', async () => {
  const secret = 'ab'.repeat(20);
  for (const host of ['acme.hubs.test', 'evil-marker.hubs.test', 'evil-marker.test']) {
    const { text, headers } = await get(host, `/accept/${secret}?x=evil-marker`).set(
      'X-Forwarded-Host',
      'evil-marker.example',
    );
    expect(text + JSON.stringify(headers)).not.toMatch(new RegExp(`evil-marker|${secret}`));
  }
  await supertest(app.origin)
    .post(`/sign-in/${secret}`)
    .set('Host', 'acme.hubs.test')
    .set('Sec-Fetch-Site', 'same-origin')
    .type('form')
    .send({ email: 'evil-marker@example.com' });
  expect(log.some((line) => line.includes('"operationId":"hubAcceptPage"'))).toBe(true);
  expect(log.join('')).not.toMatch(new RegExp(`evil-marker|${secret}`));
  const metrics = (await app.raw.get('/metrics').expect(200)).text;
  expect(metrics).toContain('operation="hubAcceptPage"');
  expect(metrics).not.toMatch(new RegExp(`evil-marker|${secret}`));
});

test.each([
  ['text/plain', 'email=a@b.c', 415],
  ['application/json', '{}', 415],
  ['application/x-www-form-urlencoded', `email=${'a'.repeat(17_000)}`, 413],
  ['application/x-www-form-urlencoded', 'email=%00', 400],
  ['application/x-www-form-urlencoded', '%', 422],
])('a form as %s that no page sends is refused: %#', async (type, body, status) => {
  const request = supertest(app.origin)
    .post('/sign-in')
    .set('Host', 'acme.hubs.test')
    .set('Sec-Fetch-Site', 'same-origin');
  await request.set('Content-Type', type).send(body).expect(status).expect('Content-Type', /html/);
});

test('a flood of unknown names shares one look-up at a time, and a hub that was seen before does not wait for it', async () => {
  const count = { lookups: 0, running: 0, most: 0 };
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      count.lookups += 1;
      count.running += 1;
      count.most = Math.max(count.most, count.running);
      return node;
    },
    async transformResult({ result }) {
      count.running -= 1;
      return result;
    },
  };
  const directory = new HubDirectory(app.database.database.keys.withPlugin(plugin), clock);
  expect((await directory.ownerOf('acme', 'subdomain'))?.workspace_id).toBe(app.workspace.workspaceId);
  const flood = Array.from({ length: 1500 }, (_, at) => directory.ownerOf(`unknown-${at}`, 'subdomain'));
  expect((await directory.ownerOf('acme', 'subdomain'))?.workspace_id).toBe(app.workspace.workspaceId);
  expect((await Promise.all(flood)).every((owner) => owner === undefined)).toBe(true);
  expect(count.lookups).toBeLessThanOrEqual(12);
  // The flood one at a time, and beside it the one that does not wait for it.
  expect(count.most).toBe(2);
  expect(await directory.ownerOf('acme', 'domain')).toBeUndefined();
  const asked = count.lookups;
  for (let at = 0; at < 5; at += 1) await directory.ownerOf('machine.internal.test', 'domain');
  expect(count.lookups).toBe(asked + 1);
});

test.each([
  ['localhost:3000', 'service'],
  ['[::1]:3000', 'service'],
  ['10.0.0.1', 'service'],
  [undefined, 'service'],
  ['svc.example.com', 'service'],
  ['hubs.example.com', 'service'],
  ['a.hubs.example.com', 'hub'],
  ['a.b.hubs.example.com', 'hub'],
  ['xhubs.example.com', 'maybe'],
  ['a..b', 'maybe'],
  ['a/b.example', 'service'],
])('the host %j is read as %s', (host, kind) => {
  expect(readHost({ publicUrl: 'https://svc.example.com', hubDomain: 'hubs.example.com' }, host).kind).toBe(kind);
});
