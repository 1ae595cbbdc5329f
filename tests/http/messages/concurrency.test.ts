import { claimConversation } from '../../../db/queries/turns/claimConversation.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { turnStart } from '../../support/turns/storedTurns.ts';
import { begun, conversation, publishedAgent, said, send, transcript } from './turns.ts';

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

const say = (replica: TestApp, body: object) => send(replica, agentId, body, app.workspace.apiKey);
/** supertest sends the request only when `then` is called. */
const sent = (request: ReturnType<typeof say>) => request.then((answer) => answer);

/** A turn that holds its conversation until `gate` releases the model's reply. Later turns get the replies `next`. */
async function heldTurn(content: string, conversationId: string, ...next: string[]) {
  server.reset();
  const gate = gatedReply();
  server.script({ reply: gate.chunks }, ...next.map((reply) => ({ reply })));
  const answer = sent(say(app, { content, conversationId }));
  await server.received(1);
  return { gate, answer };
}

const times = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Asserts that no turn began before the one before it had ended: each prompt must hold all earlier turns with their replies. */
function expectOneAfterTheOther(count: number): void {
  const prompts = server.requests.map(said);
  expect(prompts).toHaveLength(count);
  for (const [index, prompt] of prompts.entries()) {
    const roles = prompt.map((line) => line.split(':')[0]);
    expect(roles).toEqual([...times(index + 1).flatMap(() => ['user', 'assistant']), 'user']);
  }
}

describe('messages sent to one conversation at once', () => {
  test('are answered one after the other', async () => {
    const conversationId = await begun(app, agentId);
    server.reset();
    server.fallback = { echo: true };
    const answers = await Promise.all(times(12).map((i) => sent(say(app, { content: `m${i}`, conversationId }))));
    expect(answers.map(({ status, body }) => [status, body.messages?.[0]?.content])).toEqual(
      times(12).map((i) => [200, `m${i}`]),
    );
    expectOneAfterTheOther(12);
    const lines = (await transcript(app, conversationId)).slice(2);
    for (const i of times(12)) expect(lines[2 * i + 1]).toBe(lines[2 * i]?.replace('user', 'assistant'));
    expect((await conversation(app, conversationId)).messageCount).toBe(26);
  });

  test('also when two replicas receive them', async () => {
    const conversationId = await begun(app, agentId);
    server.reset();
    server.fallback = { echo: true };
    const answers = await Promise.all(
      times(12).map((i) => sent(say(i % 2 === 0 ? app : other, { content: `m${i}`, conversationId }))),
    );
    expect(answers.map(({ status, body }) => [status, body.messages?.[0]?.content])).toEqual(
      times(12).map((i) => [200, `m${i}`]),
    );
    expectOneAfterTheOther(12);
    const lines = (await transcript(app, conversationId)).slice(2);
    for (const i of times(12)) expect(lines[2 * i + 1]).toBe(lines[2 * i]?.replace('user', 'assistant'));
  });

  test('do not delay other conversations', async () => {
    const [busy, free] = [await begun(app, agentId), await begun(app, agentId)];
    const { gate, answer: slow } = await heldTurn('Slow', busy);
    await say(app, { content: 'Quick', conversationId: free }).expect(200);
    gate.push('Done.');
    gate.end();
    expect((await slow).body.messages[0].content).toBe('Done.');
  });

  test('time spent waiting counts towards the timeout, and the user’s message is kept', async () => {
    const conversationId = await begun(app, agentId);
    const { gate, answer: slow } = await heldTurn('Slow', conversationId);
    const waiters = [app, other].map((replica) =>
      sent(say(replica, { content: 'Me too', conversationId, timeoutSeconds: 1 })),
    );
    for (const { status, body } of await Promise.all(waiters))
      expect([status, body.code]).toEqual([408, 'AGENT_TIMEOUT']);
    gate.push('Done.');
    gate.end();
    expect((await slow).status).toBe(200);
    expect((await transcript(app, conversationId)).slice(2)).toEqual([
      'user: Slow',
      'user: Me too',
      'user: Me too',
      'assistant: Done.',
    ]);
    expect((await conversation(app, conversationId)).messageCount).toBe(6);
    server.reset();
    await say(app, { content: 'Next', conversationId }).expect(200);
    expect(said(server.requests[0])).toEqual([
      'user: Hello.',
      'assistant: Hello from the model.',
      'user: Slow',
      'user: Me too',
      'user: Me too',
      'assistant: Done.',
      'user: Next',
    ]);
  });

  test('after a message has stopped waiting the next one is answered, but not before the running turn has ended', async () => {
    const conversationId = await begun(app, agentId);
    const { gate, answer: running } = await heldTurn('First', conversationId);
    const impatient = sent(say(app, { content: 'Second', conversationId, timeoutSeconds: 1 }));
    const patient = sent(say(app, { content: 'Third', conversationId }));
    expect((await impatient).status).toBe(408);
    expect(server.requests).toHaveLength(1);
    gate.push('Done.');
    gate.end();
    expect((await running).status).toBe(200);
    expect((await patient).status).toBe(200);
    expect(said(server.requests[1]).at(-1)).toBe('user: Third');
  });

  test('waiting messages get 422 when the conversation is paused, and 404 when it is deleted', async () => {
    for (const [change, status, code] of [
      [{ is_paused: true }, 422, 'CONVERSATION_PAUSED'],
      [{ is_ended: true }, 422, 'CONVERSATION_ENDED'],
      [{ deleted_at: new Date() }, 404, 'CONVERSATION_NOT_FOUND'],
    ] as const) {
      const conversationId = await begun(app, agentId);
      const { gate, answer: running } = await heldTurn('First', conversationId);
      const local = sent(say(app, { content: 'Second', conversationId }));
      const remote = sent(say(other, { content: 'Third', conversationId }));
      await app.workspace.db.updateTable('conversations').set(change).where('id', '=', conversationId).execute();
      expect((await remote).body.code).toBe(code);
      gate.push('Done.');
      gate.end();
      const answer = await local;
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      expect((await running).status).toBe('deleted_at' in change ? 404 : 200);
      expect(server.requests).toHaveLength(1);
    }
  });
});

describe('a conversation that is deleted while its turn runs', () => {
  test('gives 404 CONVERSATION_NOT_FOUND, and nothing more is stored', async () => {
    const conversationId = await begun(app, agentId);
    const { gate, answer: running } = await heldTurn('Forget me', conversationId);
    await app.api('delete', `/conversations/${conversationId}`).expect(204);
    gate.push('Too late.');
    gate.end();
    const { status, body } = await running;
    expect([status, body.code]).toEqual([404, 'CONVERSATION_NOT_FOUND']);
    const rows = await app.workspace.db
      .selectFrom('messages')
      .select('content')
      .where('conversation_id', '=', conversationId)
      .where('role', '=', 'assistant')
      .execute();
    expect(rows).toEqual([{ content: 'Hello from the model.' }]);
  });
});

describe('the lease of a turn', () => {
  const claim = async (conversationId: string) => {
    const { workspaceId, db } = app.workspace;
    const start = turnStart({ workspaceId, conversationId, agentId, now: app.clock.now() }, 'From the dead.');
    return (await claimConversation(db, start, { historyBytes: 0 })).conversation;
  };
  const expire = (conversationId: string) =>
    app.workspace.db
      .updateTable('conversations')
      .set({ turn_expires_at: new Date(Date.now() - 1000) })
      .where('id', '=', conversationId)
      .execute();

  test('of a replica that died is taken over once it has expired: its turn goes on, and then the next one runs', async () => {
    const conversationId = await begun(app, agentId);
    expect(await claim(conversationId)).toBeDefined();
    await expire(conversationId);
    server.reset();
    const { body } = await say(app, { content: 'Anybody?', conversationId, timeoutSeconds: 10 }).expect(200);
    expect(body.conversation.messageCount).toBe(6);
    expect(said(server.requests[0]).slice(2)).toEqual(['user: From the dead.']);
    expect(said(server.requests[1]).slice(3)).toEqual(['assistant: Hello from the model.', 'user: Anybody?']);
  });

  test('that has not expired is respected; a waiting message continues as soon as it has', async () => {
    const conversationId = await begun(app, agentId);
    await claim(conversationId);
    expect(await claim(conversationId)).toBeUndefined();
    server.reset();
    await say(app, { content: 'Anybody?', conversationId, timeoutSeconds: 1 }).expect(408);
    expect(server.requests).toHaveLength(0);
    const waiting = sent(say(app, { content: 'Now?', conversationId }));
    await expire(conversationId);
    expect((await waiting).status).toBe(200);
  });

  test('makes a message wait until its own timeout: the message is kept, and a follow-up that was due is no longer due', async () => {
    const conversationId = await begun(app, agentId);
    await claim(conversationId);
    const followUp = () =>
      app.workspace.db.selectFrom('conversations').select('follow_up_at').where('id', '=', conversationId);
    await app.workspace.db
      .updateTable('conversations')
      .set({ follow_up_at: app.clock.now() })
      .where('id', '=', conversationId)
      .execute();
    await say(app, { content: 'Too late?', conversationId, timeoutSeconds: 1 }).expect(408);
    expect(await transcript(app, conversationId)).toContain('user: Too late?');
    expect(await followUp().executeTakeFirst()).toEqual({ follow_up_at: null });
  });

  test('that was lost protects the turn that was taken over: the late reply is dropped with 503, and the other one stays', async () => {
    const conversationId = await begun(app, agentId);
    const { gate, answer: late } = await heldTurn('First', conversationId, 'In time.');
    await expire(conversationId);
    await say(other, { content: 'Second', conversationId }).expect(200);
    gate.push('Too late.');
    gate.end();
    const { status, body } = await late;
    expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
    expect((await transcript(app, conversationId)).slice(2)).toEqual([
      'user: First',
      'assistant: In time.',
      'user: Second',
      'assistant: Hello from the model.',
    ]);
    await say(app, { content: 'Third', conversationId, timeoutSeconds: 10 }).expect(200);
  });
});

describe('while models are silent', () => {
  test('no database connection is held: other requests are served while 30 turns wait', async () => {
    server.fallback = { silence: true };
    const waiting = times(30).map((i) => sent(say(app, { content: `m${i}` })));
    await server.received(30);
    expect(app.database.database.usage()).toMatchObject({ waiting: 0 });
    const { total, idle } = app.database.database.usage();
    expect(idle).toBe(total);
    await app.api('get', '/agents').expect(200);
    expect((await app.api('get', '/conversations?limit=1').expect(200)).body.total).toBeGreaterThanOrEqual(30);
    server.cut();
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(502);
  });
});
