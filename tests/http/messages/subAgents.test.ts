import { findGlobalModel } from '../../../runtime/models/catalogue.ts';
import { publish, setStatus } from '../../support/agents/agents.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { gatedReply, type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { lastResult, streamed, systemOf, toolCall, toolNames, toolOf, WIRES } from '../../support/turns/exchanges.ts';
import {
  type AgentSetup,
  conversation,
  customModel,
  draftAgent,
  GPT,
  HAIKU,
  LOCAL,
  said,
  send,
  stored,
} from './turns.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let weather: string;
/** Part of each name, since the names of agents are unique in the workspace. */
let round = 0;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  tools.on('/weather', answering('{"sky":"clear"}'));
  weather = (await postTool(app, tools, '/weather')).publicId;
});
beforeEach(() => {
  server.reset();
  round += 1;
});
afterAll(async () => {
  await app.close();
  await tools.close();
  await server.close();
});

const named = (name: string) => `${name}-${round}`;
/** A published agent that knows the weather. */
const desk = (setup: AgentSetup = {}) =>
  agentWith(app, [{ kind: 'http_tool', id: weather }], {
    name: named('Desk'),
    systemPrompt: 'You know the weather.',
    ...setup,
  });
/** A published agent that can delegate to others. */
const boss = (ids: readonly string[], setup: AgentSetup = {}, change?: object) =>
  agentWith(
    app,
    ids.map((id) => ({ kind: 'sub_agent' as const, id, ...(change ? { change } : {}) })),
    setup,
  );
const delegate = (task: string, id?: string) => toolCall(`delegate_to_${named('Desk')}`, { task }, id);

describe.each(WIRES)('%s', (_wire, model) => {
  test('a sub-agent gets only the task, runs with its own prompt and tools, and its reply goes to its parent', async () => {
    const subId = await desk({ aiModelPublicId: model });
    const agentId = await boss([subId], { aiModelPublicId: model, systemPrompt: 'You delegate.' });
    server.script({ reply: 'Hello.' });
    const { body: first } = await send(app, agentId, { content: 'A secret greeting.' }).expect(200);
    server.script(
      { reply: 'I will ask.', toolCalls: [delegate('How is Oslo?')] },
      { reply: 'Looking.', toolCalls: [toolCall('weather', { city: 'Oslo' })] },
      { reply: 'Clear in Oslo.' },
      { reply: 'It is clear.' },
    );
    const { conversationId } = first;
    const { body } = await send(app, agentId, { content: 'How is Oslo?', conversationId }).expect(200);
    const [, asked, sub, subAgain, last] = server.requests;
    expect(toolNames(asked)).toEqual([`delegate_to_${named('Desk')}`]);
    expect(systemOf(sub)).toBe('You know the weather.');
    expect(said(sub).slice(1)).toEqual(['user: How is Oslo?']);
    expect(toolNames(sub)).toEqual(['weather']);
    expect(lastResult(subAgain).text).toBe('{"sky":"clear"}');
    // Its text before a call is part of its reply, as in every turn.
    expect(lastResult(last)).toEqual({ text: 'Looking.\n\nClear in Oslo.', isError: false });
    expect(systemOf(last)).toBe('You delegate.');
    expect(body.messages).toEqual([{ role: 'assistant', content: 'I will ask.\n\nIt is clear.' }]);
    const steps = (await stepsOf(app, conversationId)).slice(1);
    expect(steps.map(({ depth, kind, name, agent_id, status }) => [depth, kind, name, agent_id, status])).toEqual([
      [0, 'model', body.message.model, agentId, 'done'],
      [0, 'tool', `delegate_to_${named('Desk')}`, agentId, 'done'],
      [1, 'model', body.message.model, subId, 'done'],
      [1, 'tool', 'weather', subId, 'done'],
      [1, 'model', body.message.model, subId, 'done'],
      [0, 'model', body.message.model, agentId, 'done'],
    ]);
  });
});

test('tokens and cost of sub-agents, at the prices of their models, count for the reply, the turn and the conversation', async () => {
  const dear = await customModel(app.workspace, { price: 1_000 });
  const cheap = await customModel(app.workspace, { price: 10 });
  const subId = await desk({ aiModelPublicId: dear });
  const agentId = await boss([subId], { aiModelPublicId: cheap });
  server.script(
    { reply: '', toolCalls: [delegate('How is Oslo?')], usage: { input: 100, output: 10 } },
    { reply: 'Clear.', usage: { input: 200, output: 20 } },
    { reply: 'It is clear.', usage: { input: 300, output: 30 } },
  );
  const { body } = await send(app, agentId, { content: 'How is Oslo?' }).expect(200);
  // (110 + 330) × $10 + 220 × $1,000, for a million tokens.
  const cost = 0.0044 + 0.22;
  expect(body.usage).toMatchObject({ inputTokens: 600, outputTokens: 60 });
  expect(body.usage.totalCost).toBeCloseTo(cost, 10);
  expect(body.message.tokenUsage).toEqual({ inputTokens: 600, outputTokens: 60, totalTokens: 660 });
  expect(body.message.costUsd).toBeCloseTo(cost, 10);
  expect(body.message.costOps).toBe(1);
  const [turn] = await turnsOf(app, body.conversationId);
  expect(turn).toMatchObject({ input_tokens: 600, output_tokens: 60 });
  expect(Number(turn?.cost_usd)).toBeCloseTo(cost, 10);
  const steps = await stepsOf(app, body.conversationId);
  expect(
    steps.map(({ input_tokens, cost_usd }) => [input_tokens, cost_usd === null ? null : Number(cost_usd)]),
  ).toEqual([
    [100, 0.0011],
    [null, null],
    [200, 0.22],
    [300, 0.0033],
  ]);
  expect(await totalsOf(body.conversationId)).toEqual({ input_tokens: 600, output_tokens: 60, cost_usd: cost });
});

async function totalsOf(conversationId: string) {
  const row = await app.workspace.db
    .selectFrom('conversations')
    .select(['input_tokens', 'output_tokens', 'cost_usd'])
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, Number(value)]));
}

describe('which agent runs', () => {
  test('the published version and not the draft; and the new version once it is published', async () => {
    const subId = await desk();
    const agentId = await boss([subId]);
    const promptOfSub = async () => {
      server.reset();
      server.script({ reply: '', toolCalls: [delegate('Go.')] });
      await send(app, agentId, { content: 'Go.' }).expect(200);
      return systemOf(server.requests[1]);
    };
    await app.api('patch', `/agents/${subId}`).send({ systemPrompt: 'You have changed.' }).expect(200);
    expect(await promptOfSub()).toBe('You know the weather.');
    await publish(app, subId);
    expect(await promptOfSub()).toBe('You have changed.');
  });

  test('with the variables of the message and of the conversation in its own prompt', async () => {
    const variables = [
      { name: 'city', label: 'City', type: 'text_short' as const },
      { name: 'tone', label: 'Tone', type: 'text_short' as const, defaultValue: 'plain' },
      { name: 'days', label: 'Days', type: 'number' as const, defaultValue: 3 },
    ];
    const systemPrompt = 'In {{city}}, {{tone}}, {{days}} days.';
    const subId = await desk({ dynamicPromptEnabled: true, systemPrompt, variables });
    const agentId = await boss([subId]);
    // Values are checked against the variables of the agent of the conversation, which has none.
    const metadata = { variables: { city: 'Oslo', days: 'many' } };
    server.script({ reply: '', toolCalls: [delegate('Go.')] });
    const { body } = await send(app, agentId, { content: 'Go.', metadata }).expect(200);
    expect(systemOf(server.requests[1])).toBe('In Oslo, plain, 3 days.');
    const { conversationId } = body;
    server.reset();
    server.script({ reply: '', toolCalls: [delegate('Go.')] });
    const later = { content: 'Go.', conversationId, metadata: { variables: { tone: 'loud' } } };
    await send(app, agentId, later).expect(200);
    expect(systemOf(server.requests[1])).toBe('In Oslo, loud, 3 days.');
  });

  test('on the model of the link, if the link names one', async () => {
    const subId = await desk({ aiModelPublicId: LOCAL });
    const agentId = await boss([subId], { aiModelPublicId: GPT }, { aiModelPublicId: HAIKU });
    server.script({ reply: '', toolCalls: [delegate('Go.')] });
    const { body } = await send(app, agentId, { content: 'Go.' }).expect(200);
    expect(server.requests.map(({ wire, body: { model } }) => [wire, model])).toEqual([
      ['openai-responses', 'gpt-4.1'],
      ['anthropic', 'claude-haiku-4-5'],
      ['openai-responses', 'gpt-4.1'],
    ]);
    expect(body.message.model).toBe('gpt-4.1');
    const price = (id: string) => findGlobalModel(server.settings(), id)?.inputCostPer1MTokens ?? 0;
    const steps = await stepsOf(app, body.conversationId);
    expect(price(GPT)).not.toBe(price(HAIKU));
    expect(Number(steps[2]?.cost_usd)).not.toBe(Number(steps[0]?.cost_usd));
  });

  test('is described to the model by the description of the link, or else of the agent', async () => {
    const own = await desk({ name: named('One'), description: 'Knows all of one.' });
    const linked = await desk({ name: named('Two'), description: 'Knows all of two.' });
    const agentId = await agentWith(app, [
      { kind: 'sub_agent', id: own },
      { kind: 'sub_agent', id: linked, change: { description: 'For rain only.' } },
    ]);
    await send(app, agentId, { content: 'Go.' }).expect(200);
    const [request] = server.requests;
    expect(toolOf(request, `delegate_to_${named('One')}`).description).toContain('Knows all of one.');
    expect(toolOf(request, `delegate_to_${named('Two')}`).description).toContain('For rain only.');
    expect(toolOf(request, `delegate_to_${named('Two')}`).description).not.toContain('Knows all of two.');
  });

  test('none that is unpublished, inactive, archived or deleted', async () => {
    const ids = [
      await desk({ name: named('A') }),
      await desk({ name: named('B') }),
      await desk({ name: named('C') }),
    ] as const;
    const draft = await draftAgent(app, { name: named('D') });
    const kept = await desk({ name: named('E') });
    const agentId = await boss([...ids, draft, kept]);
    await send(app, agentId, { content: 'Go.' }).expect(200);
    expect(toolNames(server.requests[0])).toEqual(['A', 'B', 'C', 'E'].map((name) => `delegate_to_${named(name)}`));
    await setStatus(app.workspace, ids[0], 'inactive');
    await setStatus(app.workspace, ids[1], 'archived');
    await app.api('delete', `/agents/${ids[2]}`).expect(204);
    await publish(app, draft);
    await send(app, agentId, { content: 'Go.' }).expect(200);
    expect(toolNames(server.requests[1])).toEqual([`delegate_to_${named('D')}`, `delegate_to_${named('E')}`]);
  });
});

describe('a sub-agent that fails', () => {
  test('because of its model: its parent gets the error, and replies', async () => {
    const agentId = await boss([await desk()]);
    server.script({ reply: '', toolCalls: [delegate('Go.')] }, { status: 500 }, { reply: 'It did not work.' });
    const { body } = await send(app, agentId, { content: 'Go.' }).expect(200);
    expect(body.messages[0].content).toBe('It did not work.');
    expect(JSON.stringify(server.requests[2]?.body)).toMatch(
      /The agent could not do it: .* Calls of tools that it made before stay made\./,
    );
    const steps = await stepsOf(app, body.conversationId);
    expect(steps.map(({ depth, kind, status }) => [depth, kind, status])).toEqual([
      [0, 'model', 'done'],
      [0, 'tool', 'failed'],
      [1, 'model', 'failed'],
      [0, 'model', 'done'],
    ]);
  });

  test('because a variable has no value: its parent gets the error, and its model is not called', async () => {
    const variables = [{ name: 'city', label: 'City', type: 'text_short' as const, required: true }];
    const subId = await desk({ dynamicPromptEnabled: true, systemPrompt: 'In {{city}}.', variables });
    const agentId = await boss([subId], { aiModelPublicId: GPT });
    server.script({ reply: '', toolCalls: [delegate('Go.')] }, { reply: 'Where?' });
    await send(app, agentId, { content: 'Go.' }).expect(200);
    expect(server.requests).toHaveLength(2);
    expect(lastResult(server.requests[1])).toMatchObject({ text: expect.stringContaining('city'), isError: true });
  });
});

test('delegations of one step run in parallel, each with its own task', async () => {
  const agentId = await boss([await desk()], { aiModelPublicId: GPT });
  const [one, two] = [gatedReply(), gatedReply()];
  server.script(
    {
      reply: '',
      toolCalls: [delegate('How is Oslo?', 'c1'), delegate('And Rome?', 'c2')],
    },
    { reply: one.chunks },
    { reply: two.chunks },
  );
  const answer = send(app, agentId, { content: 'Both.' }).then((each) => each);
  await server.received(3);
  const tasks = server.requests.slice(1).map((request) => said(request).at(-1));
  expect(tasks.toSorted()).toEqual(['user: And Rome?', 'user: How is Oslo?']);
  for (const [place, gate] of [one, two].entries()) {
    gate.push(`About ${tasks[place]}`);
    gate.end();
  }
  expect((await answer).status).toBe(200);
  const last = JSON.stringify(server.requests[3]?.body);
  expect(last.indexOf('About user: How is Oslo?')).toBeGreaterThan(0);
  expect(last.indexOf('About user: How is Oslo?')).toBeLessThan(last.indexOf('About user: And Rome?'));
});

test('a stream has the text of the parent, and none of its sub-agents', async () => {
  const agentId = await boss([await desk()]);
  server.script(
    { reply: ['I will ', 'ask.'], toolCalls: [delegate('How is Oslo?')] },
    { reply: 'Looking.', toolCalls: [toolCall('weather', { city: 'Oslo' })] },
    { reply: 'A secret answer.' },
    { reply: ['It is ', 'clear.'] },
  );
  const { text, debug, conversationId } = await streamed(app, agentId, { content: 'How is Oslo?' });
  expect(text).toBe('I will ask.\n\nIt is clear.');
  expect(debug.toolCalls.map(({ name, ok }) => [name, ok])).toEqual([[`delegate_to_${named('Desk')}`, true]]);
  expect(debug.inputTokens).toBe(44);
  expect((await stored(app, conversationId)).at(-1)?.content).toBe(text);
  expect((await conversation(app, conversationId)).messageCount).toBe(2);
  expect(server.requests.map(({ body }) => body.stream === true)).toEqual([true, false, false, true]);
});
