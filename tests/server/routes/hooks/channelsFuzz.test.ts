import { createHmac } from 'node:crypto';
import { pino } from 'pino';
import {
  configureWhatsapp,
  makeConnection,
  makeZApi,
  WHATSAPP_CREDENTIALS,
} from '../../../support/channels/connections.ts';
import { mutatedWebhooks } from '../../../support/channels/mutatedWebhooks.ts';
import { PHONE_NUMBER_ID, textPost, WHATSAPP_WEBHOOKS } from '../../../support/channels/whatsappPayloads.ts';
import { INSTANCE_ID, ZAPI_WEBHOOKS, zApiText } from '../../../support/channels/zApiPayloads.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';

/* The whole way from the socket to the database, which the parsers alone do not show. */

const COUNT = 1_000;
const AT_ONCE = 8;
const failures: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => void failures.push(line) });
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ logger });
});
afterAll(() => app.close());

const sign = (body: Buffer) =>
  `sha256=${createHmac('sha256', WHATSAPP_CREDENTIALS.appSecret).update(body).digest('hex')}`;

/** Sends all of them, some at a time. Returns how often each status came. */
async function sendAll(hook: string, bodies: Iterator<Buffer>): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const sender = async () => {
    for (let next = bodies.next(); !next.done; next = bodies.next()) {
      const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': sign(next.value) };
      const { status } = await fetch(app.origin + hook, { method: 'POST', headers, body: new Uint8Array(next.value) });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return statuses;
}

test('mutated webhooks of WhatsApp, signed as by Meta: 200 or 400, and nothing fails', async () => {
  const channel = await makeConnection(app, 'whatsapp');
  await configureWhatsapp(app, channel, PHONE_NUMBER_ID);
  const hook = `/hooks/channels/${channel.publicId}`;
  const statuses = await sendAll(hook, mutatedWebhooks(WHATSAPP_WEBHOOKS, { seed: 7, count: COUNT }));
  expect([...statuses.keys()].toSorted()).toEqual([200, 400]);
  expect(statuses.get(200)).toBeGreaterThan(COUNT / 2);
  expect(failures).toEqual([]);
  const right = Buffer.from(JSON.stringify(textPost('still here', 'both')));
  expect(await sendAll(hook, [right].values())).toEqual(new Map([[200, 1]]));
});

test('mutated webhooks of Z-API: 200 or 400, and nothing fails', async () => {
  const { hook } = await makeZApi(app, INSTANCE_ID);
  const statuses = await sendAll(hook, mutatedWebhooks(ZAPI_WEBHOOKS, { seed: 11, count: COUNT }));
  expect([...statuses.keys()].toSorted()).toEqual([200, 400]);
  expect(statuses.get(200)).toBeGreaterThan(COUNT / 2);
  expect(failures).toEqual([]);
  const right = Buffer.from(JSON.stringify(zApiText('still here', 'both')));
  expect(await sendAll(hook, [right].values())).toEqual(new Map([[200, 1]]));
});

test('what is stored of them can be read', async () => {
  const { system } = app.database.database;
  const rows = await system.selectFrom('inbound_messages').select(['event', 'sent_at']).execute();
  expect(rows.length).toBeGreaterThan(20);
  for (const { sent_at } of rows) expect(sent_at.getTime()).toBeLessThanOrEqual(Date.now());
});
