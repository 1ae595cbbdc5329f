import { startTestApp, type TestApp } from '../../support/app.ts';
import { streamed, WIRES } from '../../support/exchanges.ts';
import { answering, startToolServer, type ToolServer } from '../../support/httpTools.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/runtimeAgents.ts';
import { LOCAL, send, stored } from './turns.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let look: string;
let pay: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  tools.on('/look', answering('{"seen":true}'));
  tools.on('/pay', answering('{"paid":true}'));
  look = (await postTool(app, tools, '/look')).publicId;
  pay = (await postTool(app, tools, '/pay', { requiresApproval: true })).publicId;
});
beforeEach(() => {
  server.reset();
  tools.received.length = 0;
});
afterAll(async () => {
  await app.close();
  await tools.close();
  await server.close();
});

const agent = (aiModelPublicId = LOCAL) =>
  agentWith(
    app,
    [
      { kind: 'http_tool', id: look },
      { kind: 'http_tool', id: pay },
    ],
    { aiModelPublicId },
  );

/** Arguments that are JSON and that PostgreSQL does not store as they are, and the city that the tool gets. */
const ARGUMENTS: [string, string, string][] = [
  ['a NUL', '{"city":"Os\\u0000lo"}', 'Os\ufffdlo'],
  ['half of a surrogate pair', '{"city":"Oslo\\ud83d"}', 'Oslo\ufffd'],
  ['a number beyond all', '{"city":"Oslo","far":1e999}', 'Oslo'],
  ['a NUL in a name', '{"city":"Oslo","a\\u0000":1}', 'Oslo'],
];

describe.each([...WIRES, ['chat completions', LOCAL]] as const)('arguments over %s', (_wire, model) => {
  test.each(ARGUMENTS)('with %s reach the tool, and the turn is stored', async (_what, args, city) => {
    const agentId = await agent(model);
    server.script({ reply: '', toolCalls: [{ id: 'call_1', name: 'look', arguments: args }] }, { reply: 'Seen.' });
    const { body } = await send(app, agentId, { content: 'Look.' }).expect(200);
    expect(body.messages[0].content).toBe('Seen.');
    expect(tools.received.map((one) => JSON.parse(one.body).city)).toEqual([city]);
    server.script({ reply: 'Again.' });
    await send(app, agentId, { content: 'And?', conversationId: body.conversationId }).expect(200);
  });

  test.each(ARGUMENTS)('with %s wait for their approval, and are approved', async (_what, args, city) => {
    const agentId = await agent(model);
    server.script({ reply: '', toolCalls: [{ id: 'call_1', name: 'pay', arguments: args }] }, { reply: 'Paid.' });
    const { body } = await send(app, agentId, { content: 'Pay.' }).expect(200);
    expect(body.pendingApprovals).toHaveLength(1);
    await send(app, agentId, { content: 'approve', conversationId: body.conversationId }).expect(200);
    expect(tools.received.map((one) => JSON.parse(one.body).city)).toEqual([city]);
  });
});

test.each([200, 20_000])('arguments that nest %d deep are an error that the model is told of', async (depth) => {
  for (const name of ['look', 'pay']) {
    const agentId = await agent();
    const args = `{"city":"Oslo","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    server.reset();
    server.script({ reply: '', toolCalls: [{ id: 'call_1', name, arguments: args }] }, { reply: 'Sorry.' });
    const { status, body } = await send(app, agentId, { content: 'Look.' });
    expect([status, body.messages?.[0]?.content]).toEqual([200, 'Sorry.']);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('nest too deeply');
    expect(tools.received).toEqual([]);
  }
});

test('a text and ids that PostgreSQL does not store are stored all the same, and the pieces of a stream are the reply', async () => {
  const agentId = await agent();
  const toolCalls = [{ id: 'call\u0000\ud83d', name: 'l\u0000ook', arguments: '{}' }];
  server.script(
    { reply: ['On\u0000e', ' mo\ud83d', 'ment'], toolCalls },
    { reply: ['D\u0000o', 'ne \ud83d', '\ude00\ude00.'] },
  );
  const { text, conversationId } = await streamed(app, agentId, { content: 'Look.' });
  const reply = (await stored(app, conversationId)).at(-1)?.content;
  expect(reply).toBe(text);
  expect(await turnsOf(app, conversationId)).toMatchObject([{ status: 'done' }]);
  expect(await stepsOf(app, conversationId)).toHaveLength(3);
});

test('500 calls in one step: the first 32 are made, and the model is told of the others', async () => {
  const agentId = await agent();
  const toolCalls = Array.from({ length: 500 }, (_, i) => ({
    id: `call_${i}`,
    name: 'look',
    arguments: `{"city":"City ${i}"}`,
  }));
  server.script({ reply: '', toolCalls }, { reply: 'Many.' });
  const { body } = await send(app, agentId, { content: 'Look everywhere.' }).expect(200);
  expect(tools.received).toHaveLength(32);
  const seen = JSON.stringify(server.requests[1]?.body);
  expect(seen.split('The call was not made').length - 1).toBe(468);
  const steps = await stepsOf(app, body.conversationId);
  expect(steps.filter(({ status }) => status === 'failed')).toHaveLength(468);
});
