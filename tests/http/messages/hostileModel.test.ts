import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { streamed, WIRES } from '../../support/turns/exchanges.ts';
import { LOCAL, send, stored } from './turns.ts';

const here = useModelApp({ tools: true });
let look: string;
let pay: string;

beforeAll(async () => {
  here.tools.on('/look', answering('{"seen":true}'));
  here.tools.on('/pay', answering('{"paid":true}'));
  look = (await postTool(here.app, here.tools, '/look')).publicId;
  pay = (await postTool(here.app, here.tools, '/pay', { requiresApproval: true })).publicId;
});

const agent = (aiModelPublicId = LOCAL) =>
  agentWith(
    here.app,
    [
      { kind: 'http_tool', id: look },
      { kind: 'http_tool', id: pay },
    ],
    { aiModelPublicId },
  );

/** Arguments that are valid JSON but that PostgreSQL cannot store unchanged, and the city that the tool gets. */
const ARGUMENTS: [string, string, string][] = [
  ['a NUL', '{"city":"Os\\u0000lo"}', 'Os\ufffdlo'],
  ['half of a surrogate pair', '{"city":"Oslo\\ud83d"}', 'Oslo\ufffd'],
  ['a number out of range', '{"city":"Oslo","far":1e999}', 'Oslo'],
  ['a NUL in a name', '{"city":"Oslo","a\\u0000":1}', 'Oslo'],
];

describe.each([...WIRES, ['chat completions', LOCAL]] as const)('arguments over %s', (_wire, model) => {
  test.each(ARGUMENTS)('with %s reach the tool, and the turn is stored', async (_what, args, city) => {
    const agentId = await agent(model);
    here.server.script({ reply: '', toolCalls: [{ id: 'call_1', name: 'look', arguments: args }] }, { reply: 'Seen.' });
    const { body } = await send(here.app, agentId, { content: 'Look.' }).expect(200);
    expect(body.messages[0].content).toBe('Seen.');
    expect(here.tools.received.map((one) => JSON.parse(one.body).city)).toEqual([city]);
    here.server.script({ reply: 'Again.' });
    await send(here.app, agentId, { content: 'And?', conversationId: body.conversationId }).expect(200);
  });

  test.each(ARGUMENTS)('with %s wait for approval, and can be approved', async (_what, args, city) => {
    const agentId = await agent(model);
    here.server.script({ reply: '', toolCalls: [{ id: 'call_1', name: 'pay', arguments: args }] }, { reply: 'Paid.' });
    const { body } = await send(here.app, agentId, { content: 'Pay.' }).expect(200);
    expect(body.pendingApprovals).toHaveLength(1);
    await send(here.app, agentId, { content: 'approve', conversationId: body.conversationId }).expect(200);
    expect(here.tools.received.map((one) => JSON.parse(one.body).city)).toEqual([city]);
  });
});

test.each([200, 20_000])('the model gets an error for arguments that nest %d levels deep', async (depth) => {
  for (const name of ['look', 'pay']) {
    const agentId = await agent();
    const args = `{"city":"Oslo","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    here.server.reset();
    here.server.script({ reply: '', toolCalls: [{ id: 'call_1', name, arguments: args }] }, { reply: 'Sorry.' });
    const { status, body } = await send(here.app, agentId, { content: 'Look.' });
    expect([status, body.messages?.[0]?.content]).toEqual([200, 'Sorry.']);
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('nest too deeply');
    expect(here.tools.received).toEqual([]);
  }
});

test('a reply and ids with characters that PostgreSQL cannot store are cleaned and stored, and the stream has the same text', async () => {
  const agentId = await agent();
  const toolCalls = [{ id: 'call\u0000\ud83d', name: 'l\u0000ook', arguments: '{}' }];
  here.server.script(
    { reply: ['On\u0000e', ' mo\ud83d', 'ment'], toolCalls },
    { reply: ['D\u0000o', 'ne \ud83d', '\ude00\ude00.'] },
  );
  const { text, conversationId } = await streamed(here.app, agentId, { content: 'Look.' });
  const reply = (await stored(here.app, conversationId)).at(-1)?.content;
  expect(reply).toBe(text);
  expect(await turnsOf(here.app, conversationId)).toMatchObject([{ status: 'done' }]);
  expect(await stepsOf(here.app, conversationId)).toHaveLength(3);
});

test('of 500 calls in one step the first 32 are made, and the model gets an error for each of the others', async () => {
  const agentId = await agent();
  const toolCalls = Array.from({ length: 500 }, (_, i) => ({
    id: `call_${i}`,
    name: 'look',
    arguments: `{"city":"City ${i}"}`,
  }));
  here.server.script({ reply: '', toolCalls }, { reply: 'Many.' });
  const { body } = await send(here.app, agentId, { content: 'Look everywhere.' }).expect(200);
  expect(here.tools.received).toHaveLength(32);
  const seen = JSON.stringify(here.server.requests[1]?.body);
  expect(seen.split('The call was not made').length - 1).toBe(468);
  const steps = await stepsOf(here.app, body.conversationId);
  expect(steps.filter(({ status }) => status === 'failed')).toHaveLength(468);
});
