import { sql } from 'kysely';
import { inTransaction } from '../../../../db/transaction.ts';
import { balancesOf, grantCredits, openAccount } from '../../../../domain/credits/credits.ts';
import { newToken } from '../../../../domain/hubs/sessions.ts';
import { takeDue, workInbox } from '../../../support/channels/inbox.ts';
import { openChat, type TestChat, TestVisitor } from '../../../support/channels/webChat.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';
import { makeClient } from '../../../support/hub/clients.ts';
import { openHub } from '../../../support/hub/hubs.ts';

const OWN = { 'Sec-Fetch-Site': 'same-origin' };
const clock = new TestClock();
let app: TestApp;
/** Below the address of the hub. */
let chat: TestChat;
let plain: TestChat;

beforeAll(async () => {
  app = await startTestApp({ clock });
  await openHub(app.database, app.workspace, 'acme');
  await openHub(app.database, app.stranger, 'other');
});
beforeEach(async () => {
  clock.advance(61_000);
  plain = await openChat(app);
  chat = { ...plain, url: `${app.origin}/hub/acme/chat/${plain.connectionId}` };
});
afterAll(() => app.close());

/** A client with credits, one user and the cookie of a session of it. */
async function signedIn({ credits = 5, of = app.workspace } = {}) {
  const client = await makeClient(app.database, of);
  const db = app.database.database.forWorkspace(of.workspaceId);
  const { workspaceId } = of;
  const now = clock.now();
  await inTransaction(db, async (trx) => {
    await openAccount(trx, workspaceId, client.clientId, { isUnlimited: false, mayUseExtra: false });
    const lot = { workspaceId, clientId: client.clientId, source: 'grant' as const, amount: credits };
    if (credits > 0) await grantCredits(trx, { ...lot, expiresAt: null, key: 'first', now });
  });
  const { token } = await newToken(db, { workspaceId, userId: client.userId, kind: 'session', now });
  return { ...client, Cookie: `hub_session=${token}` };
}

/** A visitor whose browser sends these headers with each request. */
class Browser extends TestVisitor {
  headers: Record<string, string> = {};
  override fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return super.fetch(path, { ...init, headers: { ...this.headers, ...(init.headers as Record<string, string>) } });
  }
}

async function browse(headers: Record<string, string>, where = chat, body: object = {}): Promise<Browser> {
  const browser = new Browser(where);
  browser.headers = headers;
  const session = await browser.post('/session', body);
  expect(session.status).toBe(200);
  browser.token = ((await session.json()) as { token: string }).token;
  return browser;
}

const conversations = () =>
  app.workspace.db
    .selectFrom('conversations')
    .selectAll()
    .where('connection_id', '=', plain.connectionId)
    .orderBy('started_at')
    .execute();

async function say(browser: TestVisitor, text: string): Promise<void> {
  expect((await browser.say(text)).status).toBe(202);
  await workInbox(app);
}

const uses = (clientId: string) =>
  app.workspace.db
    .selectFrom('credit_entries')
    .select(['client_id', 'kind', sql<string>`amount::text`.as('amount')])
    .where('client_id', '=', clientId)
    .where('kind', '=', 'use')
    .execute();

test('what a signed-in user of a client begins is the client’s, and uses its credits', async () => {
  const { Cookie, clientId, userId } = await signedIn();
  const browser = await browse({ Cookie, ...OWN });
  await say(browser, 'Hello');
  await say(browser, 'Again');
  const made = await conversations();
  expect(made).toHaveLength(1);
  expect(made[0]).toMatchObject({ client_id: clientId, client_user_id: userId });
  expect((await browser.read()).messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  const balances = await balancesOf(app.workspace.db, app.workspace.workspaceId, [clientId]);
  expect(balances.get(clientId)).toMatchObject({ included: 3, usedThisPeriod: 2 });
  const used = { client_id: clientId, kind: 'use', amount: '-1' };
  expect(await uses(clientId)).toMatchObject([used, used]);
});

test('a browser’s earlier conversation stays nobody’s, and the user’s is the same in each browser', async () => {
  const { Cookie, clientId } = await signedIn();
  const before = await browse(OWN);
  await say(before, 'Not signed in');
  const after = await browse({ Cookie, ...OWN }, chat, { token: before.token });
  await say(after, 'Signed in');
  await say(await browse({ Cookie, ...OWN }), 'Elsewhere');
  expect((await conversations()).map(({ client_id }) => client_id)).toEqual([null, clientId]);
});

test.each([
  ['not signed in', async () => ({ headers: OWN, where: chat })],
  [
    'with a session that does not exist',
    async () => ({ headers: { Cookie: `hub_session=${'0'.repeat(40)}`, ...OWN }, where: chat }),
  ],
  [
    'of another workspace',
    async () => ({ headers: { Cookie: (await signedIn({ of: app.stranger })).Cookie, ...OWN }, where: chat }),
  ],
  [
    'on another site',
    async () => ({ headers: { Cookie: (await signedIn()).Cookie, 'Sec-Fetch-Site': 'cross-site' }, where: chat }),
  ],
  [
    'on a sibling host',
    async () => ({ headers: { Cookie: (await signedIn()).Cookie, 'Sec-Fetch-Site': 'same-site' }, where: chat }),
  ],
  [
    'outside the address of the hub',
    async () => ({ headers: { Cookie: (await signedIn()).Cookie, ...OWN }, where: plain }),
  ],
])('a visitor %s begins a conversation of nobody', async (_who, visit) => {
  const { headers, where } = await visit();
  const browser = await browse(headers, where);
  // Nothing that a browser says makes it a client's.
  const sent = { id: crypto.randomUUID(), text: 'Hello', clientUserId: (await signedIn()).userId };
  expect((await browser.post('/messages', sent)).status).toBe(202);
  await workInbox(app);
  expect(await conversations()).toMatchObject([{ client_id: null, client_user_id: null }]);
});

test('the page is below the address of its own hub only', async () => {
  expect((await fetch(chat.url)).status).toBe(200);
  for (const name of ['other', 'nobody'])
    expect((await fetch(`${app.origin}/hub/${name}/chat/${plain.connectionId}`)).status).toBe(404);
});

test('the session of a removed user ends at once, and with it what the user wrote', async () => {
  const { Cookie, userId, clientId } = await signedIn();
  const browser = await browse({ Cookie, ...OWN });
  await browser.say('Sent in time');
  await app.workspace.db
    .updateTable('client_users')
    .set({ deleted_at: clock.now() })
    .where('id', '=', userId)
    .execute();
  expect((await browser.say('Too late')).status).toBe(401);
  expect((await browser.fetch('/stream')).status).toBe(401);
  const next = await browse({ Cookie, ...OWN }, chat, { token: browser.token });
  expect((await next.read()).messages).toEqual([]);
  await takeDue(app);
  expect(await conversations()).toMatchObject([{ client_id: clientId, message_count: 1 }]);
});

test('a stream tells a removed user nothing more', async () => {
  const { Cookie, userId } = await signedIn();
  const browser = await browse({ Cookie, ...OWN });
  await say(browser, 'Hello');
  const stream = await browser.follow();
  expect(await stream.next()).toMatchObject({ event: 'message', data: { text: 'Hello' } });
  await stream.next();
  await stream.next();
  await browser.say('One more');
  await app.workspace.db
    .updateTable('client_users')
    .set({ deleted_at: clock.now() })
    .where('id', '=', userId)
    .execute();
  await workInbox(app);
  expect(await stream.next()).toBeUndefined();
});

test('the token of a user counts with the session of this user only', async () => {
  const browser = await browse({ Cookie: (await signedIn()).Cookie, ...OWN });
  browser.headers = { Cookie: (await signedIn()).Cookie, ...OWN };
  expect((await browser.say('Hello')).status).toBe(401);
  browser.headers = OWN;
  expect((await browser.say('Hello')).status).toBe(401);
});

test('a session that goes on with a new secret hands it to the browser', async () => {
  const { Cookie } = await signedIn();
  clock.advance(25 * 60 * 60_000);
  const browser = new Browser(chat);
  browser.headers = { Cookie, ...OWN };
  const { headers } = await browser.post('/session', {});
  expect(headers.get('set-cookie')).toMatch(/^hub_session=[0-9a-f]{40}; Path=\/hub\/acme; /);
});

test.each([
  ['without credits', { credits: 0, status: 'active' as const }],
  ['that is suspended', { credits: 5, status: 'suspended' as const }],
])('a user of a client %s is told that no answer comes', async (_which, { credits, status }) => {
  const { Cookie, clientId } = await signedIn({ credits });
  await app.workspace.db.updateTable('clients').set({ status }).where('id', '=', clientId).execute();
  const browser = await browse({ Cookie, ...OWN });
  await say(browser, 'Hello');
  const { messages, state } = await browser.read();
  expect(messages.map(({ role }) => role)).toEqual(['user']);
  expect(state.failure).toBe('limit');
  expect(await uses(clientId)).toEqual([]);
});
