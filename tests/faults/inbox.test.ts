import { randomBytes } from 'node:crypto';
import { newId } from '../../core/ids.ts';
import { SecretBox } from '../../core/secrets.ts';
import { sealChannelCredentials } from '../../domain/channels/credentials.ts';
import { receiveEvents } from '../../domain/channels/receive.ts';
import type { InboundEvent } from '../../integrations/channels/provider.ts';
import { publishedAgent } from '../http/messages/turns.ts';
import { addConnection, messageEvent } from '../support/channels/events.ts';
import { startTestApp } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { startModelServer } from '../support/servers/modelServer.ts';
import { startZApiServer } from '../support/servers/zApiServer.ts';
import { cleanUp, freshFolder, startService } from './service.ts';

const PEOPLE = 50;
const MESSAGES_OF_EACH = 20;
const BATCH = 40;
const PARTS = 2;
/** How long a process has to say how a sending ended (LEASE_MS of domain/channels/deliver.ts). */
const SENDING_MS = 90_000;

afterEach(cleanUp);

/** In an order that is the same in every run. */
function shuffled<T>(list: readonly T[]): T[] {
  let seed = 7;
  const next = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  return list
    .map((each) => ({ each, at: next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

/** A statement that a process sent before it was killed may be carried out later than it died. */
const LATE_MS = 1_000;

test('1,000 messages of 50 people, each twice and shuffled: three processes answer each once, also when one is killed', async () => {
  const [server, zApi] = await Promise.all([startModelServer(), startZApiServer()]);
  server.fallback = { echo: true };
  const app = await startTestApp({ models: server.settings() });
  const secretKey = randomBytes(32);
  const { workspaceId, db } = app.workspace;
  const agentId = await publishedAgent(app);
  const connection = await addConnection(app.workspace, agentId, {
    config: JSON.stringify({ instanceId: zApi.instanceId }),
  });
  const { instanceToken, clientToken } = zApi;
  const box = new SecretBox(() => [secretKey]);
  const credentials = sealChannelCredentials(box, workspaceId, connection.id, { instanceToken, clientToken });
  await db.updateTable('channel_connections').set({ credentials }).where('id', '=', connection.id).execute();
  const start = async () =>
    startService({
      DATABASE_URL: app.database.url,
      GUILDHALL_DATA_DIR: await freshFolder(),
      GUILDHALL_ROLE: 'worker',
      GUILDHALL_SECRETS_KEY: secretKey.toString('base64'),
      GUILDHALL_ZAPI_BASE_URL: zApi.baseUrl,
      OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
      OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
      OPENAI_COMPATIBLE_MODELS: 'local-model',
    });
  const workers = await Promise.all([start(), start(), start()]);
  let killedAt = new Date(0);

  const begun = Date.now();
  const events = Array.from({ length: PEOPLE * MESSAGES_OF_EACH }, (_, place) => {
    const person = place % PEOPLE;
    const nth = Math.floor(place / PEOPLE);
    const sentAt = new Date(begun - 60_000 + nth * 1_000).toISOString();
    return messageEvent(`4915${1_000_000 + person}`, {
      providerMessageId: newId(),
      text: `<${person}.${nth}>`,
      sentAt,
    });
  });
  const receive = async (batch: readonly InboundEvent[]) => {
    const { waiting } = await receiveEvents(db, connection, batch, new Date());
    for (const person of waiting) void app.service.queue.send('take-inbound', person);
  };

  const waiting = async () => {
    const rows = await db
      .selectFrom('inbound_messages')
      .select((all) => ['status', all.fn.countAll<number>().as('count')])
      .where('connection_id', '=', connection.id)
      .groupBy('status')
      .execute();
    return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
  };
  // Most of a part is answered before the next one comes, so that conversations have several turns.
  const part = events.length / PARTS;
  for (let round = 0; round < PARTS; round += 1) {
    const fresh = events.slice(round * part, (round + 1) * part);
    const again = events.slice(Math.max(0, round - 1) * part, (round + 1) * part);
    const all = shuffled([...fresh, ...again]);
    for (let at = 0; at < all.length; at += BATCH) {
      await receive(all.slice(at, at + BATCH));
      if (round === 1 && at === 5 * BATCH) {
        workers[0]?.child.kill('SIGKILL');
        await workers[0]?.ended;
        killedAt = new Date();
      }
    }
    await poll(waiting, ({ answered = 0 }) => answered >= (round + 0.6) * part);
  }
  await poll(waiting, ({ answered = 0 }) => answered === events.length);
  // What the dead process was sending: its time is over. Those who live have sent theirs from then long ago.
  await db
    .updateTable('deliveries')
    .set({ due_at: new Date() })
    .where('status', '=', 'sending')
    .where('due_at', '<', new Date(killedAt.getTime() + SENDING_MS + LATE_MS))
    .execute();
  const left = async () =>
    (await db.selectFrom('deliveries').select('id').where('status', 'in', ['queued', 'sending']).execute()).length;
  await poll(left, (count) => count === 0);

  // Each is a message of its conversation once, and each person has one conversation.
  const messages = await db
    .selectFrom('messages')
    .innerJoin('conversations', 'conversations.id', 'messages.conversation_id')
    .select(['conversation_id', 'external_user_id', 'role', 'content', 'seq', 'messages.id as id'])
    .orderBy('seq')
    .execute();
  expect(new Set(messages.map(({ conversation_id }) => conversation_id)).size).toBe(PEOPLE);
  const written = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  expect(written.toSorted()).toEqual(events.map(({ text }) => text).toSorted());
  // Each is in one reply, and within a reply they are in the order in which they were sent.
  const replies = messages.filter(({ role }) => role === 'assistant');
  const answered = replies.map(({ content }) => content.match(/<\d+\.\d+>/g) ?? []);
  expect(answered.flat().toSorted()).toEqual(events.map(({ text }) => text).toSorted());
  const nthOf = (text: string) => Number(/\.(\d+)>/.exec(text)?.[1]);
  for (const texts of answered) expect(texts.map(nthOf)).toEqual(texts.map(nthOf).toSorted((a, b) => a - b));
  // Turns of one conversation never run at the same time.
  const turns = await db
    .selectFrom('turns')
    .select(['conversation_id', 'started_at', 'ended_at', 'status', 'error_code'])
    .where('status', '=', 'done')
    .orderBy('started_at')
    .execute();
  for (const one of turns) {
    const next = turns.find(
      (other) => other !== one && other.conversation_id === one.conversation_id && other.started_at > one.started_at,
    );
    if (next) expect(next.started_at.getTime()).toBeGreaterThanOrEqual(one.ended_at?.getTime() ?? 0);
  }
  // What went out is what was stored, once and in its order; of the process that was killed some may be unknown.
  const sent = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('connection_id', '=', connection.id)
    .orderBy('id')
    .execute();
  const unknown = sent.filter(({ error_code }) => error_code === 'OUTCOME_UNKNOWN');
  expect(sent.filter(({ status }) => status === 'sent').length + unknown.length).toBe(replies.length);
  expect(new Set(zApi.messages.map(({ content }) => content)).size).toBe(zApi.messages.length);
  for (const phone of new Set(zApi.messages.map((each) => each.phone))) {
    const stored = replies.filter(({ external_user_id }) => external_user_id === phone).map(({ content }) => content);
    const out = zApi.messages.filter((each) => each.phone === phone).map(({ content }) => content);
    expect(stored.filter((content) => out.includes(content))).toEqual(out);
  }
  process.stdout.write(
    `${events.length} messages: ${turns.length} turns, ${unknown.length} sendings unknown, ${Math.round((Date.now() - begun) / 1000)} s\n`,
  );

  for (const { child } of workers) child.kill('SIGTERM');
  await Promise.all(workers.map(({ ended }) => ended));
  await app.close();
  await Promise.all([server.close(), zApi.close()]);
});
