import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { publish } from '../../support/agents/agents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import {
  begun,
  conversation,
  conversationsOf,
  draftAgent,
  publishedAgent,
  said,
  transcript,
} from '../messages/turns.ts';

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

const newKey = () => ({ 'Idempotency-Key': randomUUID() });
type Headers = Record<string, string>;

/** Sends at once, and not when it is awaited. */
const send = (headers: Headers, body: object, { to = app, agent = agentId } = {}) =>
  to
    .api('post', `/agents/${agent}/messages`, app.workspace.apiKey)
    .set(headers)
    .send(body)
    .then((response) => response);

const userOf = () => ({ externalUserId: randomUUID(), content: 'Hello?' });
const claimsOf = async () =>
  (
    await sql<{ begun: object | null }>`select begun from idempotency_keys where claim_id is not null`.execute(
      app.workspace.db,
    )
  ).rows;

describe('a retry', () => {
  test('gets the first answer, byte for byte, without a call of the model', async () => {
    const headers = newKey();
    const body = userOf();
    const first = await send(headers, body);
    const second = await send(headers, body);
    const third = await send(headers, body, { to: other });
    expect([first.status, second.text, third.text]).toEqual([200, first.text, first.text]);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(server.requests).toHaveLength(1);
    expect(await conversationsOf(app, body.externalUserId)).toHaveLength(1);
    expect(await transcript(app, first.body.conversationId)).toEqual([
      'user: Hello?',
      'assistant: Hello from the model.',
    ]);
  });

  test('in a conversation adds nothing to it', async () => {
    const conversationId = await begun(app, agentId);
    const headers = newKey();
    const first = await send(headers, { content: 'Again.', conversationId });
    await begun(app, agentId);
    const second = await send(headers, { content: 'Again.', conversationId });
    expect(second.text).toBe(first.text);
    expect((await conversation(app, conversationId)).messageCount).toBe(4);
  });

  test('gets it when the agent is gone', async () => {
    const agent = await publishedAgent(app);
    const headers = newKey();
    const first = await send(headers, { content: 'Hi.' }, { agent });
    await app.api('delete', `/agents/${agent}`).expect(204);
    expect((await send(headers, { content: 'Hi.' }, { agent })).text).toBe(first.text);
  });

  test('with another body is 422 and sends nothing, also while the first request runs', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const headers = newKey();
    const first = send(headers, { content: 'One.' });
    await server.received(1);
    const running = await Promise.all([app, other].map((to) => send(headers, { content: 'Two.' }, { to })));
    gate.push('Done.');
    gate.end();
    await first;
    const late = await send(headers, { content: 'Two.' });
    for (const answer of [...running, late]) {
      expect([answer.status, answer.body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    }
    expect(server.requests).toHaveLength(1);
  });

  test('gets a final 4xx again, though it would succeed now', async () => {
    const agent = await draftAgent(app);
    const headers = newKey();
    const first = await send(headers, { content: 'Hi.' }, { agent });
    await publish(app, agent);
    const second = await send(headers, { content: 'Hi.' }, { agent });
    expect([first.body.code, second.status]).toEqual(['AGENT_NOT_PUBLISHED', 422]);
    expect({ ...second.body, requestId: '' }).toEqual({ ...first.body, requestId: '' });
    expect(second.body.requestId).toBe(second.headers['x-request-id']);
    expect((await send(newKey(), { content: 'Hi.' }, { agent })).status).toBe(200);
  });

  test('after a failure of the model is answered: with the message that is stored, in the same conversation', async () => {
    server.script({ status: 400, message: 'No.' });
    const headers = newKey();
    const body = userOf();
    const failed = await send(headers, body);
    const answered = await send(headers, body, { to: other });
    expect([failed.status, answered.status]).toEqual([502, 200]);
    const conversations = await conversationsOf(app, body.externalUserId);
    expect(conversations.map(({ publicId }) => publicId)).toEqual([answered.body.conversationId]);
    expect(await transcript(app, answered.body.conversationId)).toEqual([
      'user: Hello?',
      'assistant: Hello from the model.',
    ]);
    expect(said(server.requests[1])).toEqual(said(server.requests[0]));
    expect((await send(headers, body)).text).toBe(answered.text);
  });

  test('after a failure may also be another message', async () => {
    server.script({ status: 400, message: 'No.' });
    const headers = newKey();
    await send(headers, { content: 'One.' });
    const { status, body } = await send(headers, { content: 'Two.' });
    expect([status, await transcript(app, body.conversationId)]).toEqual([
      200,
      ['user: Two.', 'assistant: Hello from the model.'],
    ]);
  });

  test('after a time-out is answered with the message that is stored', async () => {
    server.script({ silence: true });
    const headers = newKey();
    const body = { ...userOf(), timeoutSeconds: 1 };
    expect((await send(headers, body)).status).toBe(408);
    const answered = await send(headers, body);
    expect([answered.status, await transcript(app, answered.body.conversationId)]).toEqual([
      200,
      ['user: Hello?', 'assistant: Hello from the model.'],
    ]);
  });

  test('after a time-out in the queue of a conversation answers the message that was stored there', async () => {
    const gate = gatedReply();
    const conversationId = await begun(app, agentId);
    server.script({ reply: gate.chunks });
    const busy = send({}, { content: 'Busy.', conversationId });
    await server.received(2);
    const headers = newKey();
    const body = { content: 'Waiting.', conversationId, timeoutSeconds: 1 };
    expect((await send(headers, body)).status).toBe(408);
    gate.push('Free.');
    gate.end();
    await busy;
    expect((await send(headers, body)).status).toBe(200);
    const lines = await transcript(app, conversationId);
    expect(lines.filter((line) => line === 'user: Waiting.')).toHaveLength(1);
    expect((await conversation(app, conversationId)).messageCount).toBe(lines.length);
    expect(said(server.requests.at(-1)).at(-1)).toBe('user: Waiting.');
  });

  test('after the limit of operations is not refused for good', async () => {
    const workspace = await app.database.seedWorkspace({ operationLimit: 0 });
    const agent = await publishedAgent(app, {}, workspace.apiKey);
    const headers = newKey();
    const ask = () =>
      app.api('post', `/agents/${agent}/messages`, workspace.apiKey).set(headers).send({ content: 'Hi.' });
    expect((await ask()).body.code).toBe('OPERATION_LIMIT_REACHED');
    await sql`update workspaces set operation_limit = 1 where id = ${workspace.workspaceId}`.execute(
      app.database.database.system,
    );
    const answered = await ask();
    expect(answered.status).toBe(200);
    expect((await ask()).text).toBe(answered.text);
  });
});

describe('equal requests at once', () => {
  test('200 get one answer of one call of the model, and hold no connection to the database meanwhile', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const headers = newKey();
    const body = userOf();
    const sent = Array.from({ length: 200 }, (_, place) => send(headers, body, { to: place % 2 ? other : app }));
    await server.received(1);
    await poll(claimsOf, ([claim]) => claim?.begun !== null);
    // With every connection held, this would wait for ever.
    expect((await app.api('get', '/agents')).status).toBe(200);
    gate.push('Once.');
    gate.end();
    const answers = await Promise.all(sent);
    expect([...new Set(answers.map(({ status, text }) => `${status} ${text}`))]).toHaveLength(1);
    expect(answers[0]?.body.messages).toEqual([{ role: 'assistant', content: 'Once.' }]);
    expect(server.requests).toHaveLength(1);
    const [only, ...more] = await conversationsOf(app, body.externalUserId);
    expect([only?.messageCount, more]).toEqual([2, []]);
  });

  test('get the failure of the turn that they waited for', async () => {
    server.script({ silence: true });
    const headers = newKey();
    const body = { content: 'Hi.', timeoutSeconds: 1 };
    const first = send(headers, body);
    await server.received(1);
    const answers = await Promise.all([first, send(headers, body), send(headers, body)]);
    expect(answers.map(({ body: { code } }) => code)).toEqual(['AGENT_TIMEOUT', 'AGENT_TIMEOUT', 'AGENT_TIMEOUT']);
    expect(new Set(answers.map(({ body: { requestId } }) => requestId)).size).toBe(3);
    expect(server.requests).toHaveLength(1);
  });

  test('get it from another process too', async () => {
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const headers = newKey();
    const first = send(headers, { content: 'Hi.' });
    await server.received(1);
    await poll(claimsOf, ([claim]) => claim?.begun !== null);
    const waiting = send(headers, { content: 'Hi.' }, { to: other });
    await poll(
      () => Promise.race([other.service.runtime.turns.idle().then(() => 'idle'), setImmediate('waiting')]),
      (state) => state === 'waiting',
    );
    // As failTurn leaves it.
    await sql`
      with released as (
        update idempotency_keys set claim_id = null, claimed_until = null where claim_id is not null returning begun
      )
      update turns set status = 'failed', error_code = 'MODEL_PROVIDER_ERROR', error_message = 'It failed.', ended_at = started_at
      from released where id = (begun ->> 'turnId')::uuid`.execute(app.workspace.db);
    const { status, body } = await waiting;
    expect([status, body.code, body.message]).toEqual([502, 'MODEL_PROVIDER_ERROR', 'It failed.']);
    gate.push('Done.');
    gate.end();
    await first;
    expect(server.requests).toHaveLength(1);
  });

  test('one that waits for another process gives up at its own time', async () => {
    const headers = newKey();
    const body = { content: 'Hi.', timeoutSeconds: 1 };
    const first = await send(headers, body);
    await sql`update idempotency_keys set status = null, body = null, claim_id = gen_random_uuid(),
      claimed_until = now() + interval '20 seconds' where body = ${first.text}`.execute(app.workspace.db);
    const { status, body: error } = await send(headers, body, { to: other });
    expect([status, error.code]).toEqual([408, 'AGENT_TIMEOUT']);
    expect(server.requests).toHaveLength(1);
    // It would be the first claim that the next test finds.
    await sql`delete from idempotency_keys where claim_id is not null`.execute(app.workspace.db);
  });
});

test('a retry takes over when the process of the first request is dead, with the message and the conversation that it left', async () => {
  const gate = gatedReply();
  server.script({ reply: gate.chunks });
  const headers = newKey();
  const body = userOf();
  void send(headers, body).catch(() => {});
  await server.received(1);
  await poll(claimsOf, ([claim]) => claim?.begun !== null);
  // What a dead process leaves behind once its leases have run out. The first process is alive, and finds its claim taken.
  await sql`update idempotency_keys set claimed_until = now() - interval '1 second' where claim_id is not null`.execute(
    app.workspace.db,
  );
  await sql`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`.execute(
    app.workspace.db,
  );
  const answered = await send(headers, body, { to: other });
  gate.push('Too late.');
  gate.end();
  expect(answered.status).toBe(200);
  const [only, ...more] = await conversationsOf(app, body.externalUserId);
  expect([only?.publicId, more]).toEqual([answered.body.conversationId, []]);
  expect(await transcript(app, answered.body.conversationId)).toEqual([
    'user: Hello?',
    'assistant: Hello from the model.',
  ]);
  expect((await send(headers, body, { to: other })).text).toBe(answered.text);
});
