import { createHmac } from 'node:crypto';
import { pino } from 'pino';
import { publishedAgent } from '../../../http/messages/turns.ts';
import { makeConnection } from '../../../support/channels/connections.ts';
import { mutatedWebhooks } from '../../../support/channels/mutatedWebhooks.ts';
import {
  change,
  message,
  PHONE_NUMBER_ID,
  post,
  TIMESTAMP,
  WHATSAPP_WEBHOOKS,
} from '../../../support/channels/whatsappPayloads.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { poll } from '../../../support/poll.ts';
import { adminJson } from '../../../support/scripts/admin.ts';
import { type ModelServer, startModelServer } from '../../../support/servers/modelServer.ts';
import { startWhatsappServer, type WhatsappServer } from '../../../support/servers/whatsappServer.ts';

/* From the socket to the phone: what a webhook says is answered by a running service, and what is hostile harms nobody. */

const COUNT = 150;
const lines: { level: number; msg: string; err?: unknown }[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
let app: TestApp;
let model: ModelServer;
let whatsapp: WhatsappServer;
let hook: string;

beforeAll(async () => {
  [model, whatsapp] = await Promise.all([startModelServer(), startWhatsappServer()]);
  const channels = { whatsappBaseUrl: whatsapp.baseUrl, zApiBaseUrl: whatsapp.baseUrl };
  const clock = { now: () => new Date() };
  app = await startTestApp({
    models: model.settings(),
    jobs: true,
    channels,
    clock,
    logger,
    allowPrivateNetwork: true,
  });
  const channel = await makeConnection(app, 'whatsapp', { agentId: await publishedAgent(app, {}) });
  const { phoneNumberId, accessToken, appSecret, verifyToken } = whatsapp;
  const settings = ['--config', JSON.stringify({ phoneNumberId }), '--credentials'];
  await adminJson(
    app,
    'channel',
    'configure',
    channel.publicId,
    ...settings,
    JSON.stringify({ accessToken, appSecret, verifyToken }),
  );
  hook = `/hooks/channels/${channel.publicId}`;
});
afterAll(async () => {
  await app.close();
  await Promise.all([model.close(), whatsapp.close()]);
});

async function send(body: Buffer): Promise<number> {
  const signature = createHmac('sha256', whatsapp.appSecret).update(body).digest('hex');
  const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': `sha256=${signature}` };
  return (await fetch(app.origin + hook, { method: 'POST', headers, body: new Uint8Array(body) })).status;
}

const said = (from: string, text: string) => {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const sent = message('text', { body: text }, { from, id: `wamid.${from}.${text}`, timestamp });
  const contacts = [{ profile: { name: 'A person' }, wa_id: from }];
  return Buffer.from(JSON.stringify(post([change({ contacts, messages: [sent] }, whatsapp.phoneNumberId)])));
};
const inboundWith = (states: ('received' | 'taken' | 'answered' | 'ignored' | 'failed')[]) =>
  app.database.database.system
    .selectFrom('inbound_messages')
    .select(['status', 'error_code', 'error_message'])
    .where('status', 'in', states)
    .execute();
const repliesTo = (address: string) => whatsapp.messages.filter((each) => each.address === address).length;

test('a message is answered on the phone, once, however often it comes', async () => {
  const body = said('4915112345678', 'Where is my order?');
  expect(await Promise.all(Array.from({ length: 5 }, () => send(body)))).toEqual(Array(5).fill(200));
  await poll(
    () => repliesTo('4915112345678'),
    (count) => count > 0,
  );
  await poll(
    () => inboundWith(['received', 'taken']),
    (left) => left.length === 0,
  );
  expect(await send(body)).toBe(200);
  expect(repliesTo('4915112345678')).toBe(1);
});

test('hostile webhooks keep nobody waiting: all are settled, nothing fails, and the next person is answered', async () => {
  const recent = String(Math.floor(Date.now() / 1000));
  const statuses = new Set<number>();
  let count = 0;
  for (const body of mutatedWebhooks(WHATSAPP_WEBHOOKS, { seed: 21, count: COUNT })) {
    // Each has ids of its own, so that none is dropped as one that came before.
    const text = body.toString('latin1').replaceAll('wamid.', `wamid.${++count}.`).replaceAll(TIMESTAMP, recent);
    statuses.add(await send(Buffer.from(text.replaceAll(PHONE_NUMBER_ID, whatsapp.phoneNumberId), 'latin1')));
  }
  expect([...statuses].filter((status) => status !== 200 && status !== 400)).toEqual([]);
  expect(await send(said('4915187654321', 'Are you there?'))).toBe(200);
  await poll(
    () => repliesTo('4915187654321'),
    (replies) => replies > 0,
  );
  await poll(
    () => inboundWith(['received', 'taken']),
    (left) => left.length === 0,
  );
  expect((await inboundWith(['answered', 'ignored'])).length).toBeGreaterThan(10);
  expect(await inboundWith(['failed'])).toEqual([]);
  expect(lines.filter(({ level }) => level >= 50)).toEqual([]);
});
