import { createHmac, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { sealChannelCredentials } from '../../../../domain/channels/credentials.ts';
import { rotateIdentitySecret } from '../../../../domain/channels/webChat/identitySecret.ts';
import { forgetChats } from '../../../../jobs/chatUpkeep.ts';
import { openChat, type TestChat, TestVisitor } from '../../../support/channels/webChat.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const UNKNOWN = '6b6f1c1e-0000-4000-8000-000000000000';
const SITE = 'https://shop.example.com';

let app: TestApp;
let clock: TestClock;
let chat: TestChat;

beforeAll(async () => {
  clock = new TestClock();
  app = await startTestApp({ clock });
});
beforeEach(async () => {
  // A minute later nothing that an earlier test did is counted.
  clock.advance(61_000);
  chat = await openChat(app, { config: { title: 'Shop', allowedOrigins: [SITE] } });
});
afterAll(() => app.close());

const inbound = () =>
  app.workspace.db
    .selectFrom('inbound_messages')
    .select(['provider_message_id', 'event', 'person_key'])
    .where('connection_id', '=', chat.connectionId)
    .execute();

describe('the page', () => {
  test('may run its own script and call this service only, and is framed by the allowed origins only', async () => {
    const response = await fetch(chat.url);
    expect(response.status).toBe(200);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain(`frame-ancestors ${SITE}`);
    expect(policy).not.toContain('unsafe');
    const closed = await openChat(app);
    expect((await fetch(closed.url)).headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test('shows what the operator wrote as text', async () => {
    const title = '"><script>alert(1)</script>{{script}}';
    const hostile = await openChat(app, { config: { title, welcomeMessage: "' onload='x" } });
    const html = await (await fetch(hostile.url)).text();
    expect(html).toContain('<title>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{script}}</title>');
    expect(html.match(/<script/g)).toHaveLength(1);
  });

  test('has files that are kept by browsers, packed as they like', async () => {
    const html = await (await fetch(chat.url)).text();
    for (const [, name] of html.matchAll(/(?:src|href)="(page\.[^"]+)"/g)) {
      const response = await fetch(`${app.origin}/chat/${name}`, { headers: { 'Accept-Encoding': 'br' } });
      expect(response.headers.get('content-encoding')).toBe('br');
      expect(response.headers.get('cache-control')).toContain('immutable');
    }
    const plain = await app.raw.get('/chat/embed.js').set('Accept-Encoding', 'identity');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.text).toContain('guildhall-chat');
  });

  test.each([
    ['no connection', () => randomUUID()],
    ['no id', () => 'nothing'],
    ['an agent', () => chat.agentId],
  ])('does not exist for %s', async (_what, id) => {
    for (const path of ['', '/settings', '/stream'])
      expect((await fetch(`${app.origin}/chat/${id()}${path}`)).status).toBe(404);
  });

  test('is closed at once when the connection is switched off, or deleted, or not configured yet', async () => {
    const path = `/agents/${chat.agentId}/channels/${chat.connectionId}`;
    await app.api('patch', path).send({ isActive: false });
    expect((await fetch(chat.url)).status).toBe(404);
    await app.api('patch', path).send({ isActive: true });
    expect((await fetch(chat.url)).status).toBe(200);
    await app.api('delete', path);
    expect((await fetch(chat.url)).status).toBe(404);
    const { body } = await app.api('post', `/agents/${chat.agentId}/channels`).send({ channelType: 'web_chat' });
    expect((await fetch(`${app.origin}/chat/${body.publicId}`)).status).toBe(404);
  });
});

describe('a session', () => {
  test('is that of the token, else a new one', async () => {
    const visitor = await TestVisitor.open(chat);
    expect((await visitor.read()).token).toBe(visitor.token);
    const other = await TestVisitor.open(chat, { token: `${visitor.token}x` });
    expect(other.token).not.toBe(visitor.token);
  });

  test('of a person whom the site names is the same in every browser', async () => {
    const { secret, credentials } = rotateIdentitySecret(null, clock.now());
    const { workspaceId, db } = app.workspace;
    const sealed = sealChannelCredentials(app.service.runtime.secrets, workspaceId, chat.connectionId, {
      ...credentials,
    });
    await db
      .updateTable('channel_connections')
      .set({ credentials: sealed })
      .where('id', '=', chat.connectionId)
      .execute();
    const hmac = createHmac('sha256', secret).update('user 42').digest('hex');
    const visitor = await TestVisitor.open(chat, { userId: 'user 42', hmac });
    await visitor.say('Hello');
    expect((await inbound())[0]?.person_key).toBe('visitor:user 42');
    const forged = await new TestVisitor(chat).post('/session', { userId: 'user 43', hmac });
    expect(forged.status).toBe(400);
    expect(await forged.json()).toMatchObject({ details: [{ path: '/body/hmac' }] });
  });

  test('of a person needs a secret of the connection', async () => {
    const hmac = createHmac('sha256', '').update('42').digest('hex');
    expect((await new TestVisitor(chat).post('/session', { userId: '42', hmac })).status).toBe(400);
  });
});

describe('who has no token that counts', () => {
  const calls: [string, string, object | null][] = [
    ['GET', '/messages?before=1', null],
    ['GET', '/stream', null],
    ['GET', `/files/${UNKNOWN}`, null],
    ['POST', '/messages', { id: UNKNOWN, text: 'Hello' }],
    ['POST', `/approvals/${UNKNOWN}`, { decision: 'approve' }],
    ['POST', '/person', { wanted: true }],
  ];

  test.each(calls)('is refused: %s %s', async (method, path, body) => {
    const visitor = await TestVisitor.open(chat);
    const other = await openChat(app);
    const strangers = await TestVisitor.open(other);
    const [text = ''] = visitor.token.split('.');
    for (const token of ['', 'x', `${text}.${strangers.token.split('.')[1]}`, strangers.token, 'x'.repeat(5000)]) {
      visitor.token = token;
      const response = body ? await visitor.post(path, body) : await visitor.fetch(path, { method });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'VISITOR_UNKNOWN' });
    }
    expect(await inbound()).toEqual([]);
  });
});

describe('a message', () => {
  test('is stored before it is acknowledged, once for each id', async () => {
    const visitor = await TestVisitor.open(chat);
    const id = randomUUID();
    const answers = await Promise.all([1, 2, 3].map(() => visitor.say('Hello', { id })));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    const rows = await inbound();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.event).toMatchObject({ kind: 'message', text: 'Hello', identities: [{ kind: 'visitor' }] });
  });

  test('has an id of its visitor: another visitor with the same id has another message', async () => {
    const id = randomUUID();
    for (const text of ['mine', 'yours']) await (await TestVisitor.open(chat)).say(text, { id });
    expect(await inbound()).toHaveLength(2);
  });

  test.each([
    ['no id', { text: 'x' }],
    ['another id', { id: 'x', text: 'x' }],
    ['no text', { id: randomUUID() }],
    ['white space', { id: randomUUID(), text: '  \n ' }],
    ['too much text', { id: randomUUID(), text: 'x'.repeat(32_001) }],
    ['a NUL', { id: randomUUID(), text: 'a\0b' }],
    ['half a character', { id: randomUUID(), text: 'a\ud800b' }],
    ['another type', { id: randomUUID(), text: { $ne: 1 } }],
    ['too many files', { id: randomUUID(), text: 'x', files: Array(11).fill(randomUUID()) }],
    ['no list of files', { id: randomUUID(), text: 'x', files: 'x' }],
    ['no object', []],
  ])('with %s is a 400', async (_what, body) => {
    const visitor = await TestVisitor.open(chat);
    const response = await visitor.post('/messages', body);
    expect(response.status).toBe(400);
    expect(await inbound()).toEqual([]);
  });

  test('is JSON of a bounded size', async () => {
    const visitor = await TestVisitor.open(chat);
    const form = await visitor.fetch('/messages', {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(form.status).toBe(415);
    const broken = await visitor.fetch('/messages', {
      method: 'POST',
      body: '{',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(broken.status).toBe(400);
    const huge = await visitor.post('/messages', { id: randomUUID(), text: 'x'.repeat(200_000) });
    expect(huge.status).toBe(413);
  });

  test('of 32,000 characters in any script is taken', async () => {
    const visitor = await TestVisitor.open(chat);
    expect((await visitor.say('語'.repeat(32_000))).status).toBe(202);
  });
});

describe('limits', () => {
  test('a visitor may send 20 messages in a minute, and is told when it goes on', async () => {
    const visitor = await TestVisitor.open(chat);
    for (let sent = 0; sent < 20; sent += 1) expect((await visitor.say('Hello')).status).toBe(202);
    const refused = await visitor.say('Hello');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await (await TestVisitor.open(chat)).say('Hello')).status).toBe(202);
    clock.advance(61_000);
    expect((await visitor.say('Hello')).status).toBe(202);
  });

  test('a visitor may send 300 messages in a day, over all processes', async () => {
    const visitor = await TestVisitor.open(chat);
    await visitor.say('Hello');
    const { db } = app.workspace;
    const counts = await db
      .selectFrom('chat_usage')
      .select(['messages'])
      .where('connection_id', '=', chat.connectionId)
      .execute();
    expect(counts).toEqual([{ messages: 1 }, { messages: 1 }, { messages: 1 }]);
    await db.updateTable('chat_usage').set({ messages: 300 }).where('connection_id', '=', chat.connectionId).execute();
    const refused = await visitor.say('Hello');
    expect(refused.status).toBe(429);
    const midnight = new Date(clock.now().toISOString().slice(0, 10)).getTime() + 86_400_000;
    expect(Number(refused.headers.get('retry-after'))).toBe(Math.ceil((midnight - clock.now().getTime()) / 1000));
    expect((await (await TestVisitor.open(chat)).say('Hello')).status).toBe(202);
    expect(await inbound()).toHaveLength(2);
  });

  test('an address may open so many sessions', async () => {
    const statuses: number[] = [];
    for (let opened = 0; opened < 130; opened += 1)
      statuses.push((await new TestVisitor(chat).post('/session', {})).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(statuses.at(-1)).toBe(429);
  });

  test('a visitor may follow eight times at once, and again when one is closed', async () => {
    const visitor = await TestVisitor.open(chat);
    const streams = await Promise.all(Array.from({ length: 8 }, () => visitor.follow()));
    const refused = await visitor.fetch('/stream');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('10');
    streams.pop()?.close();
    let status = 429;
    while (status === 429) {
      const cut = new AbortController();
      status = (await visitor.fetch('/stream', { signal: cut.signal })).status;
      cut.abort();
    }
    expect(status).toBe(200);
    for (const stream of streams) stream.close();
  });
});

describe('pages of other sites', () => {
  test('of an allowed origin may call', async () => {
    const headers = { Origin: SITE };
    const asked = await fetch(`${chat.url}/session`, {
      method: 'OPTIONS',
      headers: { ...headers, 'Access-Control-Request-Method': 'POST' },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(SITE);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Authorization');
    const settings = await fetch(`${chat.url}/settings`, { headers });
    expect(settings.headers.get('access-control-allow-origin')).toBe(SITE);
    expect(settings.headers.get('access-control-allow-credentials')).toBeNull();
    expect(await settings.json()).toMatchObject({ title: 'Shop' });
  });

  test.each(['https://evil.example.com', 'null', `${SITE}.evil.com`, 'http://shop.example.com'])(
    'of %s may not',
    async (Origin) => {
      for (const method of ['OPTIONS', 'GET']) {
        const response = await fetch(`${chat.url}/settings`, { method, headers: { Origin } });
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
        expect(response.headers.get('vary')).toContain('Origin');
      }
    },
  );
});

describe('a file', () => {
  test('is uploaded, sent, and read again by its visitor only', async () => {
    const visitor = await TestVisitor.open(chat);
    const uploaded = await visitor.upload('dot.png', PNG, 'image/png');
    expect(uploaded.status).toBe(201);
    const file = (await uploaded.json()) as { id: string };
    expect(file).toMatchObject({ name: 'dot.png', mediaType: 'image/png', sizeBytes: PNG.length });
    expect((await visitor.say('', { files: [file.id] })).status).toBe(202);
    expect((await inbound())[0]?.event).toMatchObject({
      text: '',
      media: [{ reference: file.id, mediaType: 'image/png' }],
    });
    const read = await visitor.fetch(`/files/${file.id}`);
    expect(Buffer.from(await read.arrayBuffer())).toEqual(PNG);
    expect(read.headers.get('content-security-policy')).toContain('sandbox');
    const other = await TestVisitor.open(chat);
    expect((await other.fetch(`/files/${file.id}`)).status).toBe(404);
    expect((await other.say('mine', { files: [file.id] })).status).toBe(404);
  });

  test.each([
    ['a page', 'x.html', '\0<html>', 422],
    ['a program', 'x.png', Buffer.from('4d5a90000300000004000000ffff0000', 'hex'), 422],
    ['nothing', 'x.txt', '', 422],
  ])('that is %s is refused', async (_what, name, content, status) => {
    const visitor = await TestVisitor.open(chat);
    expect((await visitor.upload(name, content)).status).toBe(status);
  });

  test('that is only called a page is text', async () => {
    const visitor = await TestVisitor.open(chat);
    const uploaded = await visitor.upload('"><img src=x>.html', '<script>alert(1)</script>', 'text/html');
    const file = (await uploaded.json()) as { id: string; mediaType: string };
    expect(file.mediaType).toBe('text/plain');
    const read = await visitor.fetch(`/files/${file.id}`);
    expect(read.headers.get('content-type')).toContain('text/plain');
    expect(read.headers.get('content-disposition')).toMatch(/^attachment;/);
  });

  test('over 20 MiB is refused', async () => {
    const visitor = await TestVisitor.open(chat);
    expect((await visitor.upload('x.txt', Buffer.alloc(20 * 1024 * 1024 + 1, 97))).status).toBe(413);
  });
});

describe('what is left', () => {
  const exists = async (visitor: TestVisitor, id: string) => (await visitor.fetch(`/files/${id}`)).status === 200;

  test('of files that nobody sent, and of counts of earlier days, is removed', async () => {
    const visitor = await TestVisitor.open(chat);
    const [sent, unsent] = await Promise.all(
      ['a.txt', 'b.txt'].map(async (name) => ((await (await visitor.upload(name, name)).json()) as { id: string }).id),
    );
    await visitor.say('', { files: [sent ?? ''] });
    const upkeep = forgetChats(app.service.runtime.files);
    const run = (days: number) => {
      const now = () => new Date(clock.now().getTime() + days * 86_400_000);
      return upkeep.run({ database: app.database.database, clock: { now }, logger: pino({ level: 'silent' }) });
    };
    await run(0);
    expect(await exists(visitor, unsent ?? '')).toBe(true);
    await run(2);
    expect(await exists(visitor, unsent ?? '')).toBe(false);
    expect(await exists(visitor, sent ?? '')).toBe(true);
    expect(await app.workspace.db.selectFrom('chat_usage').selectAll().execute()).toEqual([]);
  });
});

describe('another workspace', () => {
  test('has chats of its own: its tokens, files and messages are nothing here', async () => {
    const theirs = await openChat(app, { key: app.stranger.apiKey });
    const stranger = await TestVisitor.open(theirs);
    const { id } = (await (await stranger.upload('a.txt', 'secret')).json()) as { id: string };
    await stranger.say('secret');
    const visitor = await TestVisitor.open(chat);
    expect((await visitor.fetch(`/files/${id}`)).status).toBe(404);
    expect((await visitor.read()).messages).toEqual([]);
    expect(await app.workspace.db.selectFrom('chat_files').select('id').where('id', '=', id).execute()).toEqual([]);
  });
});
