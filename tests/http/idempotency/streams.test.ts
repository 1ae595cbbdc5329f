import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { API_PREFIX } from '../../../generated/operations.ts';
import { publish } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type Event, Stream } from '../../support/http/stream.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { conversationsOf, draftAgent, publishedAgent, transcript } from '../messages/turns.ts';

let server: ModelServer;
let app: TestApp;
/** A second replica over the same database. */
let other: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings() });
  other = await startTestApp({ models: server.settings(), database: app.database, clock: app.clock });
  agentId = await publishedAgent(app);
});
beforeEach(() => server.reset());
afterAll(async () => {
  await other.close();
  await app.close();
  await server.close();
});

/** Opens a stream under a key. */
async function open(key: string, body: object, { to = app, agent = agentId } = {}): Promise<Stream> {
  const response = await fetch(`${to.origin}${API_PREFIX}/agents/${agent}/messages/stream`, {
    method: 'POST',
    headers: { 'X-Api-Key': app.workspace.apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify(body),
  });
  return new Stream(response);
}

const userOf = () => ({ externalUserId: randomUUID(), content: 'Hello?' });
const textOf = (events: readonly Event[]) =>
  events.flatMap(({ event, data }) => (event === 'text-delta' ? [data.text] : [])).join('');
/** A stream without the places at which its text was cut. */
const wholeOf = (events: readonly Event[]) => ({
  others: events.filter(({ event }) => event !== 'text-delta'),
  text: textOf(events),
});

test('a retry gets the whole stream again, with its text in one piece, without a call of the model', async () => {
  const key = randomUUID();
  const body = userOf();
  const first = await (await open(key, body)).rest();
  expect(first.map(({ event }) => event)).toEqual([
    'conversation-id',
    'text-delta',
    'text-delta',
    'text-delta',
    'text-delta',
    'debug-info',
  ]);
  for (const to of [app, other]) {
    const again = await (await open(key, body, { to })).rest();
    expect(again.map(({ event }) => event)).toEqual(['conversation-id', 'text-delta', 'debug-info']);
    expect(wholeOf(again)).toEqual(wholeOf(first));
  }
  expect(server.requests).toHaveLength(1);
  const [only, ...more] = await conversationsOf(app, body.externalUserId);
  expect([only?.messageCount, more]).toEqual([2, []]);
});

test('a second request gets the same turn as it comes: what was sent before, and then each piece', async () => {
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const key = randomUUID();
  const body = userOf();
  const first = await open(key, body);
  const beginning = await first.next();
  gate.push('Good ');
  gate.push('day');
  expect(textOf([(await first.next()) as Event, (await first.next()) as Event])).toBe('Good day');
  const second = await open(key, body);
  expect(await second.next()).toEqual(beginning);
  expect(await second.next()).toEqual({ event: 'text-delta', data: { text: 'Good day' } });
  gate.push(' to you.');
  expect(await second.next()).toEqual({ event: 'text-delta', data: { text: ' to you.' } });
  gate.end();
  expect([(await first.next())?.data, await first.rest()]).toEqual([{ text: ' to you.' }, await second.rest()]);
  expect(server.requests).toHaveLength(1);
});

test('a second request at another replica gets the conversation at once, and the rest when the turn is over', async () => {
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const key = randomUUID();
  const body = userOf();
  const first = await open(key, body);
  const beginning = (await first.next()) as Event;
  const second = await open(key, body, { to: other });
  expect(await second.next()).toEqual(beginning);
  gate.push('Good ');
  gate.push('day.');
  gate.end();
  const [one, two] = [await first.rest(), await second.rest()];
  expect(wholeOf(two)).toEqual(wholeOf(one));
  expect(two.map(({ event }) => event)).toEqual(['text-delta', 'debug-info']);
  expect(server.requests).toHaveLength(1);
});

test('the turn goes on, and is kept, when the client of the first request has gone', async () => {
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const key = randomUUID();
  const body = userOf();
  const first = await open(key, body);
  await first.next();
  const second = await open(key, body);
  await first.response.body?.cancel().catch(() => {});
  gate.push('Still here.');
  gate.end();
  expect(textOf(await second.rest())).toBe('Still here.');
});

test('200 at once get one turn', async () => {
  const key = randomUUID();
  const body = userOf();
  const streams = await Promise.all(
    Array.from({ length: 200 }, async (_, place) =>
      wholeOf(await (await open(key, body, { to: place % 2 ? other : app })).rest()),
    ),
  );
  expect(new Set(streams.map((stream) => JSON.stringify(stream))).size).toBe(1);
  expect(streams[0]?.text).toBe('Hello from the model.');
  expect(server.requests).toHaveLength(1);
  const [only, ...more] = await conversationsOf(app, body.externalUserId);
  expect([only?.messageCount, more]).toEqual([2, []]);
});

describe('errors', () => {
  test('an event of a final error is kept, with the request id of the retry', async () => {
    const agent = await draftAgent(app);
    const key = randomUUID();
    const [first] = await (await open(key, { content: 'Hi.' }, { agent })).rest();
    await publish(app, agent);
    const retry = await open(key, { content: 'Hi.' }, { agent });
    const [second] = await retry.rest();
    expect(first).toMatchObject({ event: 'error', data: { code: 'AGENT_NOT_PUBLISHED', status: 422 } });
    expect({ ...second, data: { ...second?.data, requestId: '' } }).toEqual({
      ...first,
      data: { ...first?.data, requestId: '' },
    });
    expect(second?.data.requestId).toBe(retry.response.headers.get('x-request-id'));
  });

  test('an error before the stream is kept as such', async () => {
    const key = randomUUID();
    const body = { content: 'Hi.', conversationId: randomUUID() };
    for (const to of [app, other, app]) {
      const { response } = await open(key, body, { to });
      expect([response.status, response.headers.get('content-type')]).toEqual([404, expect.stringMatching('json')]);
    }
  });

  test('a failure of the model is not kept: the retry streams an answer to the stored message', async () => {
    server.script({ status: 400, message: 'No.' });
    const key = randomUUID();
    const body = userOf();
    const failed = await (await open(key, body)).rest();
    const answered = await (await open(key, body, { to: other })).rest();
    expect(failed.map(({ event, data }) => data.code ?? event)).toEqual(['conversation-id', 'MODEL_PROVIDER_ERROR']);
    expect(answered[0]).toEqual(failed[0]);
    expect(textOf(answered)).toBe('Hello from the model.');
    expect(await transcript(app, String(answered[0]?.data.conversationId))).toEqual([
      'user: Hello?',
      'assistant: Hello from the model.',
    ]);
  });

  test('those who follow get the failure of the turn', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks, ending: 'error-event' });
    const key = randomUUID();
    const body = userOf();
    const first = await open(key, body);
    await first.next();
    const second = await open(key, body);
    gate.push('Half');
    gate.end();
    const [one, two] = [(await first.rest()).at(-1), (await second.rest()).at(-1)];
    expect([one?.data.code, two?.data.code]).toEqual(['MODEL_PROVIDER_ERROR', 'MODEL_PROVIDER_ERROR']);
    expect(two?.data.requestId).toBe(second.response.headers.get('x-request-id'));
    expect(server.requests).toHaveLength(1);
  });

  test('another body is 422, no stream', async () => {
    const key = randomUUID();
    await (await open(key, { content: 'One.' })).rest();
    const { response } = await open(key, { content: 'Two.' });
    expect([response.status, response.headers.get('content-type')]).toEqual([422, expect.stringMatching('json')]);
  });
});

test('one that waits at another replica takes over when the process of the turn is dead, on the stream that it has', async () => {
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const key = randomUUID();
  const body = userOf();
  const first = await open(key, body);
  const beginning = await first.next();
  const second = await open(key, body, { to: other });
  expect(await second.next()).toEqual(beginning);
  await sql`update idempotency_keys set claimed_until = now() - interval '1 second' where claim_id is not null`.execute(
    app.workspace.db,
  );
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`.execute(
    app.workspace.db,
  );
  const rest = await second.rest();
  gate.end();
  expect(wholeOf(rest)).toEqual({
    others: [expect.objectContaining({ event: 'debug-info' })],
    text: 'Hello from the model.',
  });
  await first.rest();
  await poll(
    () => transcript(app, String(beginning?.data.conversationId)),
    (lines) => lines.length === 2,
  );
});
