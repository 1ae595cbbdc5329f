import { sql } from 'kysely';
import { resumeTurn } from '../../../runtime/turn/runTurn.ts';
import { inline, PNG } from '../../runtime/files/attachmentSamples.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { poll } from '../../support/poll.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { payCall } from '../../support/turns/waitingCalls.ts';
import { begun, conversationsOf, GPT, HAIKU, LOCAL, publishedAgent, send, transcript } from './turns.ts';

/* A turn counts as dead when its lease has run out: here its process goes on living, and must not do any harm. */

let server: ModelServer;
let tools: ToolServer;
/** Runs the turns that die. */
let app: TestApp;
/** Two more replicas over the same database. */
let others: TestApp[];
let pay: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  const options = { models: server.settings(), allowPrivateNetwork: true };
  app = await startTestApp(options);
  pay = (await postTool(app, tools, '/pay')).publicId;
  const replica = () => startTestApp({ ...options, database: app.database, clock: app.clock });
  others = [await replica(), await replica()];
});
beforeEach(() => {
  server.reset();
  tools.received.length = 0;
  tools.on('/pay', (_received, response) => void response.writeHead(200).end('paid'));
});
afterAll(async () => {
  for (const other of others) await other.close();
  await app.close();
  await tools.close();
  await server.close();
});

const contextOf = (replica: TestApp | undefined) => {
  const { service } = replica ?? app;
  const { db, workspaceId } = app.workspace;
  return { db, workspaceId, runtime: service.runtime };
};
const resume = (conversationId: string, replica = others[0]) => resumeTurn(contextOf(replica), conversationId);
const expire = (conversationId: string) =>
  sql`update conversations set turn_expires_at = now() - interval '1 second' where id = ${conversationId}`.execute(
    app.workspace.db,
  );
const payer = (setup = {}) => agentWith(app, [{ kind: 'http_tool', id: pay }], setup);

let people = 0;
/** A message whose turn has asked the model, and lost its lease. `end` lets the first process go on. */
async function deadTurn(agentId: string) {
  people += 1;
  const externalUserId = `dead-${people}`;
  const gate = gatedReply();
  server.script({ reply: gate.chunks, toolCalls: [payCall('Late')] });
  const asked = server.requests.length;
  const answer = send(app, agentId, { content: 'Pay.', externalUserId }).then((response) => response);
  await server.received(asked + 1);
  const [found] = await conversationsOf(app, externalUserId);
  const conversationId = found?.publicId ?? '';
  await expire(conversationId);
  const end = async () => {
    gate.end();
    const { status, body } = await answer;
    return [status, body.code];
  };
  return { conversationId, end };
}

test('of two processes that find a dead turn one goes on with it; the first one wakes up, and calls no tool and stores nothing', async () => {
  const { conversationId, end } = await deadTurn(await payer());
  server.script({ reply: '', toolCalls: [payCall('Oslo')] }, { reply: 'Paid.' });
  await Promise.all(others.flatMap((other) => [resume(conversationId, other), resume(conversationId, other)]));
  expect(server.requests).toHaveLength(3);
  const stored = await stepsOf(app, conversationId);
  expect(await end()).toEqual([503, 'UNAVAILABLE']);
  expect(tools.received.map(({ body }) => JSON.parse(body).city)).toEqual(['Oslo']);
  expect(await transcript(app, conversationId)).toEqual(['user: Pay.', 'assistant: Paid.']);
  expect(await stepsOf(app, conversationId)).toEqual(stored);
  expect((await turnsOf(app, conversationId)).map(({ status }) => status)).toEqual(['done']);
});

test('a process does not take over its own turn, whose lease ran out while it had no database', async () => {
  const { conversationId, end } = await deadTurn(await publishedAgent(app));
  await resume(conversationId, app);
  expect(server.requests).toHaveLength(1);
  expect(await end()).toEqual([200, undefined]);
});

test('a call whose outcome could not be stored is not made again, and the model is told', async () => {
  const agentId = await payer();
  server.script({ reply: '', toolCalls: [payCall('Oslo')] }, { silence: true });
  const answer = send(app, agentId, { content: 'Pay.', externalUserId: 'lost', timeoutSeconds: 30 }).then(
    (each) => each,
  );
  await server.received(2);
  const conversationId = (await conversationsOf(app, 'lost'))[0]?.publicId ?? '';
  await poll(
    async () => (await stepsOf(app, conversationId)).map(({ status }) => status),
    (found) => found.join() === 'done,done',
  );
  await sql`update turn_steps set status = 'running', output = null where kind = 'tool'
    and turn_id = (select turn_id from conversations where id = ${conversationId})`.execute(app.workspace.db);
  await expire(conversationId);
  server.script({ reply: 'I cannot tell.' });
  await resume(conversationId);
  expect(JSON.stringify(server.requests[2]?.body)).toContain('Whether it was made is not known.');
  expect(tools.received).toHaveLength(1);
  await poll(
    () => answer.then(({ status }) => status),
    (status) => status === 503,
  );
});

test.each([
  ['Anthropic', HAIKU, 'c2lnbmVk'],
  ['OpenAI', GPT, 'call_pay_Oslo'],
  ['a compatible server', LOCAL, 'call_pay_Oslo'],
])('%s gets back what it said, with its own data and the arguments in their order', async (_name, model, own) => {
  const agentId = await payer({ aiModelPublicId: model, thinkingEnabled: model === HAIKU });
  const external = `own-${model}`;
  const ordered = '{"zone":1,"city":"Oslo","amount":2}';
  server.script(
    { reply: 'I pay.', thinking: 'They want it paid.', toolCalls: [{ ...payCall('Oslo'), arguments: ordered }] },
    { silence: true },
  );
  const answer = send(app, agentId, { content: 'Pay.', externalUserId: external }).then((each) => each);
  await server.received(2);
  const conversationId = (await conversationsOf(app, external))[0]?.publicId ?? '';
  await poll(
    async () => (await stepsOf(app, conversationId)).map(({ status }) => status).join(),
    (found) => found === 'done,done',
  );
  await expire(conversationId);
  server.script({ reply: 'Paid.' });
  await resume(conversationId);
  const [, before, after] = server.requests.map(({ body }) => JSON.stringify(body));
  expect(after).toBe(before);
  expect(after).toContain(own);
  expect(await transcript(app, conversationId)).toEqual(['user: Pay.', 'assistant: I pay.\n\nPaid.']);
  expect((await answer).status).toBe(503);
});

describe('files that stood in the request itself', () => {
  const listing = Buffer.from('name,price\nBread,3');
  const attachments = [
    inline(PNG, { filename: 'cat.png' }),
    inline(listing, { filename: 'list.csv' }),
    inline(PNG, { filename: 'again.png' }),
  ];
  /** A message with them whose turn has lost its lease. */
  async function lostWithFiles() {
    people += 1;
    const externalUserId = `files-${people}`;
    const agentId = await publishedAgent(app, { aiModelPublicId: GPT });
    const gate = gatedReply();
    server.script({ reply: gate.chunks });
    const answer = send(app, agentId, { content: 'See.', attachments, externalUserId }).then(({ status }) => status);
    await server.received(1);
    const conversationId = (await conversationsOf(app, externalUserId))[0]?.publicId ?? '';
    await expire(conversationId);
    const end = () => {
      gate.end();
      return answer;
    };
    return { conversationId, end };
  }
  const requestOf = async (conversationId: string) => (await turnsOf(app, conversationId))[0]?.request;

  test('are seen by the model that goes on, and are gone when the turn has ended', async () => {
    const { conversationId, end } = await lostWithFiles();
    expect(JSON.stringify(await requestOf(conversationId))).toContain(PNG.toString('base64'));
    await resume(conversationId);
    const [before, after] = server.requests.map(({ body }) => body);
    expect(after).toEqual(before);
    expect(JSON.stringify(after)).toContain(PNG.toString('base64'));
    expect(JSON.stringify(after)).toContain('Bread,3');
    expect(await requestOf(conversationId)).toBeNull();
    expect(await end()).toBe(503);
  });

  test('are told to be lost when an earlier release began the turn', async () => {
    const { conversationId, end } = await lostWithFiles();
    await sql`update turns set request = null where conversation_id = ${conversationId}`.execute(app.workspace.db);
    await resume(conversationId);
    const body = JSON.stringify(server.requests[1]?.body);
    expect(body).toContain('cannot be read any more');
    expect(body).toContain('list.csv');
    expect(await end()).toBe(503);
  });
});

describe('a turn that nobody can go on with', () => {
  const outcome = async (conversationId: string) => {
    const [turn] = await turnsOf(app, conversationId);
    return [turn?.status, turn?.error_code, turn?.error_message];
  };

  test('is interrupted after three processes died in it, and the next message is answered', async () => {
    const agentId = await payer();
    const { conversationId, end } = await deadTurn(agentId);
    await sql`update conversations set turn_attempt = 3 where id = ${conversationId}`.execute(app.workspace.db);
    const { body } = await send(others[0] ?? app, agentId, { content: 'Well?', conversationId }, app.workspace.apiKey);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Hello from the model.' }]);
    expect(await outcome(conversationId)).toEqual([
      'interrupted',
      'INTERRUPTED',
      'The process that ran it died 3 times.',
    ]);
    expect(await end()).toEqual([503, 'UNAVAILABLE']);
    expect(tools.received).toEqual([]);
  });

  test.each([
    ['whose conversation was ended', 'conversations', 'is_ended = true', 'CONVERSATION_ENDED'],
    [
      'whose conversation a person has taken over',
      'conversations',
      `is_paused = true, paused_by = 'operator'`,
      'CONVERSATION_PAUSED',
    ],
    ['whose conversation was deleted', 'conversations', 'deleted_at = now()', 'CONVERSATION_NOT_FOUND'],
    ['whose agent is not published any more', 'agents', `status = 'inactive'`, 'AGENT_NOT_PUBLISHED'],
  ])('%s fails with that', async (_name, table, change, code) => {
    const agentId = await payer();
    const { conversationId, end } = await deadTurn(agentId);
    const id = table === 'agents' ? agentId : conversationId;
    await sql`update ${sql.table(table)} set ${sql.raw(change)} where id = ${id}`.execute(app.workspace.db);
    await resume(conversationId);
    expect(await outcome(conversationId)).toEqual(['failed', code, expect.any(String)]);
    await resume(conversationId);
    expect(server.requests).toHaveLength(1);
    expect((await end())[0]).toBeGreaterThan(400);
    expect(tools.received).toEqual([]);
  });

  test.each([
    ['it is interrupted', 'turn_attempt = 3'],
    ['its conversation is paused', `is_paused = true, paused_by = 'operator'`],
  ])('is not counted among the messages of the month: %s', async (_why, change) => {
    const limited = (limit: number | null) =>
      sql`update workspaces set operation_limit = ${limit} where id = ${app.workspace.workspaceId}`.execute(
        app.database.database.system,
      );
    const used = async () =>
      (await sql<{ operations: number }>`select operations::int from operation_usage`.execute(app.workspace.db)).rows[0]
        ?.operations ?? 0;
    const agentId = await payer();
    await limited(1_000);
    // The first count of a month begins with the messages of it.
    await begun(app, agentId);
    server.reset();
    const before = await used();
    const { conversationId, end } = await deadTurn(agentId);
    expect(await used()).toBe(before + 1);
    await sql`update conversations set ${sql.raw(change)} where id = ${conversationId}`.execute(app.workspace.db);
    await resume(conversationId);
    // Once: also when the first process, which slept, notices that the turn is not its own any more.
    await end();
    expect(await used()).toBe(before);
    await limited(null);
  });

  test('is interrupted when an earlier release stored its calls', async () => {
    const agentId = await publishedAgent(app);
    const { conversationId, end } = await deadTurn(agentId);
    await sql`insert into turn_steps (workspace_id, turn_id, seq, agent_id, depth, kind, name, status, started_at)
      select workspace_id, turn_id, 0, agent_id, 0, 'tool', 'pay', 'running', now() from conversations where id = ${conversationId}`.execute(
      app.workspace.db,
    );
    await resume(conversationId);
    expect(await outcome(conversationId)).toEqual([
      'interrupted',
      'INTERRUPTED',
      expect.stringContaining('another release'),
    ]);
    await end();
  });
});

test('a message that comes to a dead turn waits for its end, also without a process for background work', async () => {
  const agentId = await publishedAgent(app);
  const conversationId = await begun(app, agentId);
  server.script({ silence: true });
  const lost = send(app, agentId, { content: 'First', conversationId }).then((each) => each);
  await server.received(2);
  await expire(conversationId);
  await send(others[0] ?? app, agentId, { content: 'Second', conversationId }, app.workspace.apiKey).expect(200);
  expect((await transcript(app, conversationId)).slice(2)).toEqual([
    'user: First',
    'assistant: Hello from the model.',
    'user: Second',
    'assistant: Hello from the model.',
  ]);
  expect((await lost).status).toBe(503);
});
