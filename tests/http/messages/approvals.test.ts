import { randomUUID } from 'node:crypto';
import { publish } from '../../support/agents.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { answering, startToolServer, type ToolServer } from '../../support/httpTools.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { agentWith, link, postTool, stepsOf, turnsOf } from '../../support/runtimeAgents.ts';
import { draftAgent, GPT, HAIKU, LOCAL, send, stored } from './turns.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let other: TestApp;
let pay: string;
let look: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  other = await startTestApp({
    models: server.settings(),
    allowPrivateNetwork: true,
    database: app.database,
    clock: app.clock,
  });
  tools.on('/pay', answering('{"paid":true}'));
  tools.on('/look', answering('{"seen":true}'));
  pay = (await postTool(app, tools, '/pay', { requiresApproval: true })).publicId;
  look = (await postTool(app, tools, '/look')).publicId;
});
beforeEach(() => {
  server.reset();
  tools.received.length = 0;
});
afterAll(async () => {
  await other.close();
  await app.close();
  await tools.close();
  await server.close();
});

const payer = (aiModelPublicId = LOCAL) =>
  agentWith(
    app,
    [
      { kind: 'http_tool', id: pay },
      { kind: 'http_tool', id: look },
    ],
    { aiModelPublicId },
  );
const call = (name: string, city: string, id = `call_${name}_${city}`) => ({
  ...{ id, name },
  arguments: JSON.stringify({ city }),
});
const paths = () => tools.received.map(({ url, body }) => `${url} ${JSON.parse(body).city}`);

/** A conversation whose agent waits for the approval of these calls. */
async function waiting(agentId: string, ...calls: ReturnType<typeof call>[]) {
  server.script({ reply: 'I will pay.', toolCalls: calls });
  const { body } = await send(app, agentId, { content: 'Pay them.' }).expect(200);
  return body;
}
const decide = (agentId: string, conversationId: string, content: string, approvals?: object) =>
  send(app, agentId, { content, conversationId, ...(approvals ? { metadata: { approvals } } : {}) }).expect(200);

describe.each([
  ['OpenAI', GPT],
  ['Anthropic', HAIKU],
  ['chat completions', LOCAL],
])('%s', (_wire, model) => {
  test('a call that needs approval is not made; it waits, and the reply says so', async () => {
    const agentId = await payer(model);
    const body = await waiting(agentId, call('pay', 'Oslo'), call('look', 'Rome'));
    expect(paths()).toEqual(['/look Rome']);
    expect(body.pendingApprovals).toEqual([
      {
        publicId: expect.any(String),
        toolName: 'pay',
        input: { city: 'Oslo' },
        requestedAt: app.clock.now().toISOString(),
      },
    ]);
    expect(body.message.content).toBe(
      'I will pay.\n\nBefore I go on, a person has to approve:\n- pay {"city":"Oslo"}\n\nReply “approve” or “reject”.',
    );
    expect(await turnsOf(app, body.conversationId)).toMatchObject([{ status: 'waiting' }]);
    expect((await stepsOf(app, body.conversationId)).map(({ status }) => status)).toEqual(['done', 'waiting', 'done']);
  });

  test('“approve” makes the call once, and the model goes on with all results', async () => {
    const agentId = await payer(model);
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'), call('look', 'Rome'));
    server.script({ reply: 'Paid.' });
    const { body } = await decide(agentId, conversationId, ' Approve ');
    expect(paths()).toEqual(['/look Rome', '/pay Oslo']);
    expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Paid.' }] });
    const seen = JSON.stringify(server.requests[1]?.body);
    expect(seen).toContain('seen');
    expect(seen).toContain('paid');
    expect((await turnsOf(app, conversationId)).map(({ status, paused }) => [status, paused])).toEqual([
      ['done', null],
      ['done', null],
    ]);
    expect((await stored(app, conversationId)).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    // Nothing waits any more: the same word is a message like any other.
    await decide(agentId, conversationId, 'approve');
    expect(paths()).toHaveLength(2);
  });

  test('“reject” makes no call and tells the model', async () => {
    const agentId = await payer(model);
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    server.script({ reply: 'Then not.' });
    const { body } = await decide(agentId, conversationId, 'reject');
    expect(paths()).toEqual([]);
    expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Then not.' }] });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('A person rejected this call.');
  });
});

describe('decisions one by one', () => {
  test('metadata.approvals decides each; what it does not name goes on waiting', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'), call('pay', 'Rome'));
    const [oslo, rome] = pendingApprovals.map(({ publicId }: { publicId: string }) => publicId);
    const { body } = await decide(agentId, conversationId, 'The first.', { [oslo]: 'approve' });
    expect(paths()).toEqual(['/pay Oslo']);
    expect(body.pendingApprovals).toMatchObject([{ publicId: rome }]);
    expect(server.requests).toHaveLength(1);
    server.script({ reply: 'Half.' });
    const { body: end } = await decide(agentId, conversationId, 'Not the other.', { [rome.toUpperCase()]: 'reject' });
    expect(paths()).toEqual(['/pay Oslo']);
    expect(end).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Half.' }] });
    const seen = JSON.stringify(server.requests[1]?.body);
    expect(seen).toContain('paid');
    expect(seen).toContain('A person rejected this call.');
  });

  test('the word decides what the map leaves open', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'), call('pay', 'Rome'));
    await decide(agentId, conversationId, 'approve', { [pendingApprovals[0].publicId]: 'reject' });
    expect(paths()).toEqual(['/pay Rome']);
  });

  test('a message about something else withdraws what waits, and the model is told to act on it', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
    server.script({ reply: 'Bergen, then.', toolCalls: [call('pay', 'Bergen')] });
    const { body } = await decide(agentId, conversationId, 'No, pay Bergen.');
    expect(paths()).toEqual([]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('This call was not approved');
    expect(body.pendingApprovals).toMatchObject([{ input: { city: 'Bergen' } }]);
    await decide(agentId, conversationId, 'And this?', { [pendingApprovals[0].publicId]: 'approve' });
    expect(paths()).toEqual([]);
  });

  test('an approval that is not of this conversation is 400 with its place, and nothing happens', async () => {
    const agentId = await payer();
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    const elsewhere = await waiting(agentId, call('pay', 'Rome'));
    for (const id of [elsewhere.pendingApprovals[0].publicId, randomUUID(), 'nonsense', '__proto__']) {
      const metadata = { approvals: Object.fromEntries([[id, 'approve']]) };
      const { status, body } = await send(app, agentId, { content: 'Go.', conversationId, metadata });
      expect([id, status, body.details?.[0]?.path]).toEqual([id, 400, `/body/metadata/approvals/${id}`]);
    }
    expect(await stored(app, conversationId)).toHaveLength(2);
    expect(paths()).toEqual([]);
  });
});

describe('who decides whether a call waits', () => {
  test.each([
    ['the tool', true, false, true],
    ['the link', false, true, true],
    ['neither', false, false, false],
  ])('%s: the stricter of tool and link wins', async (_who, onTool, onLink, waits) => {
    const { publicId: id } = await postTool(app, tools, '/pay', {
      name: `pay_${randomUUID()}`,
      requiresApproval: onTool,
    });
    const agentId = await agentWith(app, [{ kind: 'http_tool', id, change: { requiresApproval: onLink } }]);
    const name = (await app.api('get', `/http-tools/${id}`)).body.name;
    server.script({ reply: '', toolCalls: [call(name, 'Oslo')] });
    const { body } = await send(app, agentId, { content: 'Pay.' }).expect(200);
    expect(body.pendingApprovals).toHaveLength(waits ? 1 : 0);
    expect(paths()).toHaveLength(waits ? 0 : 1);
  });

  test('a tool that was unlinked meanwhile is not called: the model is told', async () => {
    const agentId = await payer();
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    await app.api('delete', `/agents/${agentId}/http-tools/${pay}`).expect(204);
    await publish(app, agentId);
    server.script({ reply: 'Gone.' });
    await decide(agentId, conversationId, 'approve');
    expect(paths()).toEqual([]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('no longer available');
  });
});

describe('exactly once', () => {
  test('when approvals race through two replicas', async () => {
    for (let round = 0; round < 8; round += 1) {
      server.reset();
      tools.received.length = 0;
      const agentId = await payer();
      const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
      const approvals = { [pendingApprovals[0].publicId]: 'approve' };
      const body = { content: 'approve', conversationId, metadata: { approvals } };
      const answers = await Promise.all(
        [app, other, app, other].map((each) =>
          send(each, agentId, body, app.workspace.apiKey).then((answer) => answer),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(paths()).toEqual(['/pay Oslo']);
    }
  });

  test('when the turn that was to go on fails after the call: the next message goes on with its result', async () => {
    const agentId = await payer();
    const { conversationId } = await waiting(agentId, call('pay', 'Oslo'));
    server.script({ status: 500 });
    await send(app, agentId, { content: 'approve', conversationId }).expect(502);
    expect(paths()).toEqual(['/pay Oslo']);
    server.script({ reply: 'Paid at last.' });
    const { body } = await decide(agentId, conversationId, 'Well?');
    expect(body).toMatchObject({ pendingApprovals: [], messages: [{ content: 'Paid at last.' }] });
    expect(paths()).toEqual(['/pay Oslo']);
    expect(JSON.stringify(server.requests[2]?.body)).toContain('paid');
  });

  test('a call that was begun when its process died is not made again: the model is told that its outcome is not known', async () => {
    const agentId = await payer();
    const { conversationId, pendingApprovals } = await waiting(agentId, call('pay', 'Oslo'));
    await app.workspace.db
      .updateTable('approvals')
      .set({ status: 'running', decided_at: new Date(), decided_by: 'message' })
      .where('id', '=', pendingApprovals[0].publicId)
      .execute();
    server.script({ reply: 'I do not know.' });
    await decide(agentId, conversationId, 'Well?');
    expect(paths()).toEqual([]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('Whether it was made is not known.');
  });
});

test('a sub-agent’s call waits for the same approval, and both go on when it is given', async () => {
  const worker = await payer();
  const boss = await draftAgent(app);
  await link(app, boss, 'sub_agent', worker, { description: 'Pays.' });
  await publish(app, boss);
  const delegate = `delegate_to_${(await app.api('get', `/agents/${worker}`)).body.name.replace(/\W/g, '_')}`;
  server.script(
    { reply: '', toolCalls: [{ id: 'call_d', name: delegate, arguments: '{"task":"Pay Oslo."}' }] },
    { reply: 'I pay.', toolCalls: [call('pay', 'Oslo')] },
  );
  const { body } = await send(app, boss, { content: 'Have Oslo paid.' }).expect(200);
  expect(body.pendingApprovals).toMatchObject([{ toolName: 'pay', input: { city: 'Oslo' } }]);
  expect(paths()).toEqual([]);
  server.script({ reply: 'Oslo is paid.' }, { reply: 'All done.' });
  const { body: end } = await decide(boss, body.conversationId, 'approve');
  expect(paths()).toEqual(['/pay Oslo']);
  expect(end.messages).toEqual([{ role: 'assistant', content: 'All done.' }]);
  expect(JSON.stringify(server.requests[2]?.body)).toContain('paid');
  expect(JSON.stringify(server.requests[3]?.body)).toContain('Oslo is paid.');
  const delegations = (await stepsOf(app, body.conversationId)).filter(({ name }) => name === delegate);
  expect(delegations.map(({ input }) => input)).toEqual([{ task: 'Pay Oslo.' }, { task: 'Pay Oslo.' }]);
});
