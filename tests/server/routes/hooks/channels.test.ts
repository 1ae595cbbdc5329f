import { createHmac } from 'node:crypto';
import { pino } from 'pino';
import { newAddressSecret } from '../../../../core/publicAddress.ts';
import {
  channelPath,
  configureWhatsapp,
  makeConnection,
  makeZApi,
  storedConnection,
  WHATSAPP_CREDENTIALS,
} from '../../../support/channels/connections.ts';
import { adminQuery } from '../../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../../support/http/app.ts';
import { admin, adminJson } from '../../../support/scripts/admin.ts';

const clock = new TestClock();
const lines: string[] = [];
const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock, logger });
});
afterAll(() => app.close());

let numbers = 0;
/** A connection to WhatsApp that is configured, with its number and the path of its webhook. */
async function makeWhatsapp(credentials = WHATSAPP_CREDENTIALS) {
  const channel = await makeConnection(app, 'whatsapp');
  const phoneNumberId = `1098765432${++numbers}`;
  await configureWhatsapp(app, channel, phoneNumberId, credentials);
  return { ...channel, phoneNumberId, hook: `/hooks/channels/${channel.publicId}` };
}

let messages = 0;
const textMessage = (body = 'Hello.') => ({
  id: `wamid.${++messages}`,
  from: '491511234567',
  timestamp: String(Math.floor(clock.now().getTime() / 1000)),
  type: 'text',
  text: { body },
});
const change = (phoneNumberId: string, value: object) => ({
  field: 'messages',
  value: { messaging_product: 'whatsapp', metadata: { phone_number_id: phoneNumberId }, ...value },
});
const webhook = (...changes: object[]) => ({
  object: 'whatsapp_business_account',
  entry: changes.map((each) => ({ id: '42', changes: [each] })),
});
const said = (phoneNumberId: string, ...list: object[]) => webhook(change(phoneNumberId, { messages: list }));

const sign = (body: string | Buffer, secret = WHATSAPP_CREDENTIALS.appSecret) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
/** Sends a body as Meta does; `signature` in place of the right one. */
function send(hook: string, payload: object | string, signature?: string) {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const request = app.raw.post(hook).set('Content-Type', 'application/json');
  return request.set('X-Hub-Signature-256', signature ?? sign(body)).send(body);
}
const inbound = async ({ publicId }: { publicId: string }) =>
  (
    await app.database.database.system
      .selectFrom('inbound_messages')
      .select(['provider_message_id', 'status', 'event'])
      .where('connection_id', '=', publicId)
      .orderBy('provider_message_id')
      .execute()
  ).map(({ provider_message_id }) => provider_message_id);
const turns = async () => (await adminQuery('select from turns', app.database.name)).length;

describe('WhatsApp', () => {
  test('a signed webhook is 200 when its messages are stored, and again is nothing new', async () => {
    const channel = await makeWhatsapp();
    const payload = said(channel.phoneNumberId, textMessage(), textMessage());
    for (let time = 0; time < 3; time += 1) {
      const { status, text } = await send(channel.hook, payload);
      expect([status, text]).toEqual([200, 'ok']);
    }
    expect(await inbound(channel)).toHaveLength(2);
    expect((await storedConnection(app, channel.publicId)).last_inbound_at).toEqual(clock.now());
  });

  test.each([
    ['of another secret', (body: string) => sign(body, 'another-secret-0123456789')],
    ['of another body', (body: string) => sign(`${body} `)],
    ['of SHA-1', (body: string) => sign(body).replace('sha256', 'sha1')],
    ['cut off', (body: string) => sign(body).slice(0, -2)],
    ['empty', () => ''],
  ])('a signature %s is 401, and nothing is stored', async (_what, signature) => {
    const channel = await makeWhatsapp();
    const body = JSON.stringify(said(channel.phoneNumberId, textMessage()));
    const answer = await send(channel.hook, body, signature(body));
    expect([answer.status, answer.body.code]).toEqual([401, 'INVALID_SIGNATURE']);
    expect(await inbound(channel)).toEqual([]);
  });

  test.each([
    'no JSON',
    '[]',
    '{}',
    'null',
    '{"object":"whatsapp_business_account","entry":{}}',
    '"\\ud800"',
    '{"a":"\\u0000"}',
  ])('a signed body %s is no 5xx and stores nothing', async (body) => {
    const channel = await makeWhatsapp();
    const answer = await send(channel.hook, body);
    expect(answer.status).toBe(body === 'no JSON' ? 400 : 200);
    expect(await inbound(channel)).toEqual([]);
  });

  test('the handshake repeats the challenge to whoever knows the verify token', async () => {
    const { hook } = await makeWhatsapp();
    const ask = (query: Record<string, string>) => app.raw.get(hook).query(query);
    const query = { 'hub.mode': 'subscribe', 'hub.verify_token': WHATSAPP_CREDENTIALS.verifyToken };
    const { status, text, headers } = await ask({ ...query, 'hub.challenge': '1158201444' });
    expect([status, text]).toEqual([200, '1158201444']);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    const wrong = await ask({ ...query, 'hub.verify_token': 'guess', 'hub.challenge': '1' });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'INVALID_SIGNATURE']);
    const page = await ask({ ...query, 'hub.challenge': '<script>' });
    expect([page.status, page.text.includes('<script>')]).toEqual([400, false]);
  });

  test('each number of an app gets what is its own; an unknown one is dropped', async () => {
    const [first, second] = [await makeWhatsapp(), await makeWhatsapp()];
    const [mine, theirs, lost] = [textMessage(), textMessage(), textMessage()];
    const payload = webhook(
      change(second.phoneNumberId, { messages: [theirs] }),
      change(first.phoneNumberId, { messages: [mine] }),
      change('999', { messages: [lost] }),
    );
    await send(first.hook, payload).expect(200);
    expect([await inbound(first), await inbound(second)]).toEqual([[mine.id], [theirs.id]]);
    await send(first.hook, said('999', textMessage())).expect(200);
    expect([(await inbound(first)).length, (await inbound(second)).length]).toEqual([1, 1]);
  });

  test('who may send for one number cannot send for one with another secret, of this workspace or another', async () => {
    const own = await makeWhatsapp();
    const other = await makeWhatsapp({ ...WHATSAPP_CREDENTIALS, appSecret: 'another-secret-0123456789' });
    const foreign = await makeConnection(app, 'whatsapp', { key: app.stranger.apiKey });
    await configureWhatsapp(app, foreign, '777');
    await send(own.hook, said(other.phoneNumberId, textMessage())).expect(200);
    await send(own.hook, said('777', textMessage())).expect(200);
    expect([await inbound(other), await inbound(foreign)]).toEqual([[], []]);
  });

  test('a connection without settings proves nobody, and one that is off keeps what comes', async () => {
    const bare = await makeConnection(app, 'whatsapp');
    const body = JSON.stringify(said('1', textMessage()));
    const answer = await send(`/hooks/channels/${bare.publicId}`, body, sign(body, ''));
    expect([answer.status, await inbound(bare)]).toEqual([401, []]);
    const off = await makeWhatsapp();
    await app.api('patch', channelPath(off)).send({ isActive: false }).expect(200);
    await send(off.hook, said(off.phoneNumberId, textMessage())).expect(200);
    const { rows } = { rows: await inbound(off) };
    expect(rows).toHaveLength(1);
    const stored = await adminQuery<{ status: string; error_code: string }>(
      `select status, error_code from inbound_messages where connection_id = '${off.publicId}'`,
      app.database.name,
    );
    expect(stored).toEqual([{ status: 'ignored', error_code: 'CONNECTION_INACTIVE' }]);
  });

  test('a deleted connection has no address', async () => {
    const channel = await makeWhatsapp();
    await app.api('delete', channelPath(channel)).expect(204);
    const { status, body } = await send(channel.hook, said(channel.phoneNumberId, textMessage()));
    expect([status, body.code]).toEqual([404, 'CHANNEL_CONNECTION_NOT_FOUND']);
  });

  test('what cannot be stored is a 5xx, so that it comes again', async () => {
    const channel = await makeWhatsapp();
    const payload = said(channel.phoneNumberId, textMessage());
    await adminQuery('alter table inbound_messages add constraint broken check (false) not valid', app.database.name);
    try {
      const { status } = await send(channel.hook, payload);
      expect(status).toBeGreaterThanOrEqual(500);
    } finally {
      await adminQuery('alter table inbound_messages drop constraint broken', app.database.name);
    }
    expect(await inbound(channel)).toEqual([]);
    await send(channel.hook, payload).expect(200);
    expect(await inbound(channel)).toHaveLength(1);
  });

  test('secrets that cannot be read are 503', async () => {
    const channel = await makeWhatsapp();
    await adminQuery(
      `update channel_connections set credentials = '\\x00' where id = '${channel.publicId}'`,
      app.database.name,
    );
    const { status, body } = await send(channel.hook, said(channel.phoneNumberId, textMessage()));
    expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
  });

  test('what is wrong with the account is stored with its connection', async () => {
    const channel = await makeWhatsapp();
    const errors = [{ code: 131031, title: 'Business Account locked', message: 'Locked.' }];
    await send(channel.hook, webhook(change(channel.phoneNumberId, { errors }))).expect(200);
    const problem = (await adminJson(app, 'channel', 'list')).find(
      (each: { connectionPublicId: string }) => each.connectionPublicId === channel.publicId,
    )?.problem;
    expect(problem).toMatchObject({ code: 'NUMBER_BANNED', since: clock.now().toISOString() });
  });
});

describe('Z-API', () => {
  const received = (instanceId: string, fields: object = {}) => ({
    type: 'ReceivedCallback',
    instanceId,
    messageId: `Z${++messages}`,
    phone: '5511999999999',
    fromMe: false,
    momment: clock.now().getTime(),
    text: { message: 'Olá' },
    ...fields,
  });

  test('the secret of the address is the proof', async () => {
    const channel = await makeZApi(app, 'z-1');
    expect(channel.hook).toMatch(/^\/hooks\/channels\/[0-9a-f]{40}$/);
    await app.raw.post(channel.hook).send(received('z-1')).expect(200);
    expect(await inbound(channel)).toHaveLength(1);
    for (const address of [channel.publicId, newAddressSecret(), 'x', channel.hook.slice(-40).toUpperCase()]) {
      const { status, body } = await app.raw.post(`/hooks/channels/${address}`).send(received('z-1'));
      expect([address, status, body.code]).toEqual([address, 404, 'CHANNEL_CONNECTION_NOT_FOUND']);
    }
    expect(await inbound(channel)).toHaveLength(1);
  });

  test('the address that was replaced works for a day, or ends at once', async () => {
    const channel = await makeZApi(app, 'z-2');
    const next = new URL((await adminJson(app, 'channel', 'rotate', channel.publicId)).webhookUrl).pathname;
    for (const hook of [channel.hook, next]) await app.raw.post(hook).send(received('z-2')).expect(200);
    const last = new URL((await adminJson(app, 'channel', 'rotate', channel.publicId, '--end-now')).webhookUrl)
      .pathname;
    for (const hook of [channel.hook, next]) await app.raw.post(hook).send(received('z-2')).expect(404);
    await app.raw.post(last).send(received('z-2')).expect(200);
    clock.advance(25 * 60 * 60 * 1000);
    await app.raw.post(last).send(received('z-2')).expect(200);
  });

  test('a webhook of another instance, of a group, or without an id is dropped', async () => {
    const channel = await makeZApi(app, 'z-3');
    for (const payload of [received('z-4'), received('z-3', { isGroup: true }), received('z-3', { messageId: null })])
      await app.raw.post(channel.hook).send(payload).expect(200);
    expect(await inbound(channel)).toEqual([]);
  });

  test('the secret is in no log, metric, error or header', async () => {
    const channel = await makeZApi(app, 'z-5');
    const secret = channel.hook.slice(-40);
    const answers = [
      await app.raw.post(channel.hook).send(received('z-5')),
      await app.raw.post(channel.hook).type('application/json').send('no JSON'),
      await app.raw.get(channel.hook),
      await app.raw.put(channel.hook),
      await app.raw.post(`${channel.hook}/more`).send({}),
      await app.raw.get('/metrics'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 405, 404, 200]);
    for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(secret);
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.join('\n')).not.toContain(secret);
    const { stdout } = await admin(app, 'channel', 'list');
    expect(stdout).not.toContain(secret);
  });

  test('a body of more than 5 MiB is 413', async () => {
    const channel = await makeZApi(app, 'z-6');
    const { status, body } = await app.raw
      .post(channel.hook)
      .send(received('z-6', { pad: 'x'.repeat(5 * 1024 * 1024) }));
    expect([status, body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(await inbound(channel)).toEqual([]);
  });
});

test('the address of a web chat takes no webhooks', async () => {
  const { publicId } = await makeConnection(app);
  for (const request of [
    app.raw.post(`/hooks/channels/${publicId}`).send({}),
    app.raw.get(`/hooks/channels/${publicId}`),
  ])
    expect((await request).body.code).toBe('CHANNEL_CONNECTION_NOT_FOUND');
});

test('no webhook runs a turn in the process that takes requests', async () => {
  expect(await turns()).toBe(0);
});
