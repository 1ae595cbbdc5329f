import supertest from 'supertest';
import { inTransaction } from '../../../../db/transaction.ts';
import { newToken } from '../../../../domain/hubs/sessions.ts';
import { openMailContent } from '../../../../domain/mail/mailContent.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';
import { makeClient } from '../../../support/hub/clients.ts';
import { openHub } from '../../../support/hub/hubs.ts';

const clock = new TestClock();
const HOST = 'acme.hubs.test';
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock, hubDomain: 'hubs.test' });
  await openHub(app.database, app.workspace, 'acme', { name: 'Acme' });
  await openHub(app.database, app.stranger, 'other', { name: 'Other' });
});
afterAll(() => app.close());
beforeEach(() => clock.advance(61_000));

const db = () => app.database.database.forWorkspace(app.workspace.workspaceId);

/** A request to the hub by its host, as a browser sends it from a page of the hub. */
function ask(method: 'get' | 'post' | 'head', path: string, host = HOST) {
  const request = supertest(app.origin)[method](path).set('Host', host).redirects(0);
  return method === 'post' ? request.type('form').set('Sec-Fetch-Site', 'same-origin') : request;
}

const cookieOf = (response: supertest.Response) => response.headers['set-cookie']?.[0]?.split(';')[0] ?? '';

async function tokenOf(userId: string, kind: 'invitation' | 'sign_in' = 'invitation') {
  const { workspaceId } = app.workspace;
  return (await newToken(db(), { workspaceId, userId, kind, now: clock.now() })).token;
}

/** The newest links that were mailed to an address. */
async function mailedLinks(email: string): Promise<string[]> {
  const rows = await db()
    .selectFrom('mails')
    .selectAll()
    .where('recipient', '=', email)
    .orderBy('created_at')
    .execute();
  const { secrets } = app.service.runtime;
  return rows.map((row) => {
    const content = row.content && openMailContent(secrets, { workspaceId: row.workspace_id, id: row.id }, row.content);
    return (content as { url: string }).url;
  });
}

async function signedIn() {
  const client = await makeClient(app.database, app.workspace);
  const response = await ask('post', `/accept/${await tokenOf(client.userId)}`);
  return { ...client, cookie: cookieOf(response) };
}

describe('an invitation', () => {
  test('is shown however often it is looked at, accepted once, and signs its user in', async () => {
    const { userId, email, clientId } = await makeClient(app.database, app.workspace, { name: 'Nova' });
    await db()
      .insertInto('client_invitations')
      .values({
        workspace_id: app.workspace.workspaceId,
        id: userId,
        client_id: clientId,
        user_id: userId,
        expires_at: clock.now(),
      })
      .execute();
    const path = `/accept/${await tokenOf(userId)}`;
    await ask('head', path).expect(200);
    for (const _ of [1, 2])
      expect((await ask('get', path).expect(200)).text).toContain(`You are invited to Nova. Go on as ${email}.`);
    const accepted = await ask('post', path).expect(303);
    expect(accepted.headers.location).toBe('/');
    expect(accepted.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-hub_session=[0-9a-f]{40}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const home = await ask('get', '/').set('Cookie', cookieOf(accepted)).expect(200);
    expect(home.text).toContain(email);
    expect(home.text).toContain('Nova');
    expect(home.headers['cache-control']).toBe('no-store');
    const user = await db()
      .selectFrom('client_users')
      .select('onboarded_at')
      .where('id', '=', userId)
      .executeTakeFirst();
    const invitation = await db()
      .selectFrom('client_invitations')
      .select('accepted_at')
      .where('id', '=', userId)
      .executeTakeFirst();
    expect([user, invitation]).toEqual([{ onboarded_at: clock.now() }, { accepted_at: clock.now() }]);
    await ask('post', path).expect(404);
  });

  test('that does not work has one answer, whatever the reason, which leads to the sign-in', async () => {
    const { userId } = await makeClient(app.database, app.workspace);
    const used = await tokenOf(userId);
    await ask('post', `/accept/${used}`).expect(303);
    const foreign = await tokenOf((await makeClient(app.database, app.workspace)).userId);
    const wrongKind = await tokenOf((await makeClient(app.database, app.workspace)).userId, 'sign_in');
    const expired = await tokenOf((await makeClient(app.database, app.workspace)).userId);
    const expected = (await ask('get', `/accept/${'0'.repeat(40)}`).expect(404)).text;
    expect(expected).toContain('href="/sign-in"');
    expect((await ask('get', `/accept/${wrongKind}`).expect(404)).text).toBe(expected);
    expect((await ask('get', '/accept/%27%3Cscript%3E').expect(404)).text).toBe(expected);
    expect((await ask('get', `/accept/${used}`).expect(404)).text).toBe(expected);
    expect((await ask('post', `/accept/${used}`).expect(404)).text).toBe(expected);
    await ask('get', `/accept/${foreign}`, 'other.hubs.test').expect(404);
    clock.advance(7 * 24 * 60 * 60_000);
    expect((await ask('get', `/accept/${expired}`).expect(404)).text).toBe(expected);
  });
});

describe('signing in by mail', () => {
  test('sends a link to each user of the email, and says the same for one that nobody has', async () => {
    const { email, userId } = await makeClient(app.database, app.workspace, { user: { email: 'Zoe@Example.com' } });
    await makeClient(app.database, app.workspace, { user: { email: 'zoe@example.com' } });
    await makeClient(app.database, app.stranger, { user: { email: 'zoe@example.com' } });
    const known = await ask('post', '/sign-in').send({ email: ' ZOE@example.com ' }).expect(200);
    const unknown = await ask('post', '/sign-in').send({ email: 'nobody@example.com' }).expect(200);
    expect(known.text.replaceAll('ZOE@', 'nobody@')).toBe(unknown.text);
    const links = [...(await mailedLinks(email)), ...(await mailedLinks('zoe@example.com'))];
    expect(links).toEqual(
      [0, 1].map(() => expect.stringMatching(/^https:\/\/acme\.hubs\.test\/sign-in\/[0-9a-f]{40}$/)),
    );
    expect(await mailedLinks('nobody@example.com')).toEqual([]);
    const path = new URL(links[0] ?? '').pathname;
    expect((await ask('get', path).expect(200)).text).toContain('Zoe@Example.com');
    const response = await ask('post', path).expect(303);
    const user = await db()
      .selectFrom('client_users')
      .select('onboarded_at')
      .where('id', '=', userId)
      .executeTakeFirst();
    expect(user?.onboarded_at).toEqual(clock.now());
    await ask('get', '/').set('Cookie', cookieOf(response)).expect(200);
  });

  test('a mailbox gets at most three links a minute and five that work, and nobody is told', async () => {
    const { email } = await makeClient(app.database, app.workspace);
    for (let at = 0; at < 4; at += 1) await ask('post', '/sign-in').send({ email }).expect(200);
    expect(await mailedLinks(email)).toHaveLength(3);
    clock.advance(60_000);
    for (let at = 0; at < 3; at += 1) await ask('post', '/sign-in').send({ email }).expect(200);
    expect(await mailedLinks(email)).toHaveLength(5);
    await ask('post', '/sign-in').send({ email }).expect(200);
    for (let at = 0; at < 6; at += 1) await ask('post', '/sign-in').send({ email: 'none' }).expect(422);
    const refused = await ask('post', '/sign-in').send({ email }).expect(429);
    expect([refused.headers['retry-after'], refused.type]).toEqual(['60', 'text/html']);
  });

  test.each(['', 'no email', 'a@b@c', `${'a'.repeat(320)}@b`, '"><script>alert(1)</script>@x'])(
    '%j is no email: the form says so',
    async (email) => {
      const { text } = await ask('post', '/sign-in').send({ email }).expect(422);
      expect(text).toContain('aria-invalid="true"');
      expect(text).not.toContain('<script>');
    },
  );
});

describe('a session', () => {
  test('ends at once in the browser and here: signed out, removed, of a client that is deleted', async () => {
    const one = await signedIn();
    const out = await ask('post', '/sign-out').set('Cookie', one.cookie).expect(303);
    expect(out.headers['set-cookie']).toEqual([expect.stringMatching(/^__Host-hub_session=; Path=\/; Max-Age=0;/)]);
    expect((await ask('get', '/').set('Cookie', one.cookie).expect(303)).headers.location).toBe('/sign-in');
    const two = await signedIn();
    await db().updateTable('client_users').set({ deleted_at: clock.now() }).where('id', '=', two.userId).execute();
    await ask('get', '/').set('Cookie', two.cookie).expect(303);
    const three = await signedIn();
    await db().updateTable('clients').set({ deleted_at: clock.now() }).where('id', '=', three.clientId).execute();
    await ask('get', '/').set('Cookie', three.cookie).expect(303);
  });

  test('of one hub is nobody in another', async () => {
    const { cookie } = await signedIn();
    await ask('get', '/', 'other.hubs.test').set('Cookie', cookie).expect(303);
  });

  test('goes on with a new secret after a day', async () => {
    const { cookie } = await signedIn();
    clock.advance(24 * 60 * 60_000);
    const response = await ask('get', '/').set('Cookie', cookie).expect(200);
    expect(cookieOf(response)).not.toBe(cookie);
    clock.advance(60_000);
    await ask('get', '/').set('Cookie', cookie).expect(303);
    await ask('get', '/').set('Cookie', cookieOf(response)).expect(200);
  });
});

test('the answer to a link keeps its secret: no referrer, no cache, no frame, no script', async () => {
  const { userId } = await makeClient(app.database, app.workspace);
  const { headers } = await ask('get', `/accept/${await tokenOf(userId)}`).expect(200);
  expect(headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; style-src 'self' 'sha256-[^']+'; img-src 'self'; script-src 'none'; base-uri 'none'; form-action 'self';.*frame-ancestors 'none'$/,
    ),
  });
});

describe('a form of another site', () => {
  const foreign = { 'Sec-Fetch-Site': 'cross-site' };
  test.each([
    foreign,
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': '', Origin: 'https://evil.test' },
    { Origin: 'null' },
    {},
  ])('%j changes nothing', async (headers) => {
    const { userId } = await makeClient(app.database, app.workspace);
    const path = `/accept/${await tokenOf(userId)}`;
    const request = supertest(app.origin).post(path).set('Host', HOST).type('form').redirects(0);
    for (const [name, value] of Object.entries(headers)) if (value) request.set(name, value);
    expect((await request.expect(400)).headers['set-cookie']).toBeUndefined();
    await ask('get', path).expect(200);
    await supertest(app.origin)
      .post(path)
      .set('Host', HOST)
      .set('Origin', `https://${HOST}`)
      .type('form')
      .redirects(0)
      .expect(303);
  });
});

test('two at once: a link and its session belong to one of them', async () => {
  const { userId } = await makeClient(app.database, app.workspace);
  const path = `/accept/${await tokenOf(userId)}`;
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask('post', path)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404, 404]);
  const sessions = await inTransaction(db(), (trx) =>
    trx.selectFrom('client_tokens').select('kind').where('user_id', '=', userId).execute(),
  );
  expect(sessions).toEqual([{ kind: 'session' }]);
});
