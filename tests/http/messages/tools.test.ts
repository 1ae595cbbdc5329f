import { startTestApp, type TestApp } from '../../support/app.ts';
import { answering, startToolServer, type ToolServer } from '../../support/httpTools.ts';
import { type ModelServer, startModelServer } from '../../support/model-server.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/runtimeAgents.ts';
import { GPT, HAIKU, LOCAL, send, stored } from './turns.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
let weather: string;
let news: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  tools.on('/weather', answering('{"sky":"clear"}'));
  tools.on('/news', answering('{"error":"down"}', 'application/json', 503));
  weather = (await postTool(app, tools, '/weather')).publicId;
  news = (await postTool(app, tools, '/news')).publicId;
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

const reporter = (aiModelPublicId: string) =>
  agentWith(
    app,
    [
      { kind: 'http_tool', id: weather },
      { kind: 'http_tool', id: news },
    ],
    { aiModelPublicId, systemPrompt: 'You report.' },
  );
const call = (name: string, input: object, id = `call_${name}`) => ({ id, name, arguments: JSON.stringify(input) });

describe.each([
  ['OpenAI', GPT],
  ['Anthropic', HAIKU],
  ['chat completions', LOCAL],
])('%s', (_wire, model) => {
  test('a call that the model asks for is made, its result goes back, and the answer is the reply', async () => {
    const agentId = await reporter(model);
    server.script(
      { reply: 'Let me look.', toolCalls: [call('weather', { city: 'Oslo' })], usage: { input: 100, output: 10 } },
      { reply: 'It is clear.', usage: { input: 150, output: 5 } },
    );
    const { body } = await send(app, agentId, { content: 'How is Oslo?' }).expect(200);
    expect(tools.received.map(({ body: sent }) => JSON.parse(sent))).toEqual([{ city: 'Oslo' }]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('Does weather.');
    expect(JSON.stringify(server.requests[1]?.body)).toContain('sky');
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Let me look.\n\nIt is clear.' }]);
    expect(body.usage).toMatchObject({ inputTokens: 250, outputTokens: 15 });
    expect(body.message.tokenUsage).toEqual({ inputTokens: 250, outputTokens: 15, totalTokens: 265 });
    const steps = await stepsOf(app, body.conversationId);
    expect(steps.map(({ kind, status, name }) => [kind, status, name])).toEqual([
      ['model', 'done', body.message.model],
      ['tool', 'done', 'weather'],
      ['model', 'done', body.message.model],
    ]);
    expect(steps[1]).toMatchObject({ input: { city: 'Oslo' }, output: { text: '{"sky":"clear"}', isError: false } });
    expect(steps[0]).toMatchObject({ input_tokens: 100, output_tokens: 10 });
    expect(steps[0]?.input).toEqual({ messages: 1, tools: 2, system: 'You report.' });
    expect(steps[2]?.input).toEqual({ messages: 3, tools: 2 });
    expect(await turnsOf(app, body.conversationId)).toMatchObject([
      { status: 'done', kind: 'message', input_tokens: 250, output_tokens: 15 },
    ]);
  });

  test('calls of one step are made side by side, and a failure is told to the model', async () => {
    const agentId = await reporter(model);
    let arrived = 0;
    let go = () => {};
    const both = new Promise<void>((resolve) => {
      go = resolve;
    });
    tools.on('/weather', async (_received, response) => {
      arrived += 1;
      if (arrived === 2) go();
      await both;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"sky":"grey"}');
    });
    server.script(
      {
        reply: '',
        toolCalls: [
          call('weather', { city: 'Oslo' }, 'call_1'),
          call('weather', { city: 'Rome' }, 'call_2'),
          call('news', { city: 'Rome' }, 'call_3'),
        ],
      },
      { reply: 'Done.' },
    );
    const { body } = await send(app, agentId, { content: 'And?' }).expect(200);
    expect(body.messages[0].content).toBe('Done.');
    const back = JSON.stringify(server.requests[1]?.body);
    expect(back.match(/grey/g)).toHaveLength(2);
    expect(back).toContain('503');
    const steps = await stepsOf(app, body.conversationId);
    expect(steps.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'failed', 'done']);
    tools.on('/weather', answering('{"sky":"clear"}'));
  });

  test('a later turn of the conversation still sees what the tools answered', async () => {
    const agentId = await reporter(model);
    server.script(
      { reply: '', toolCalls: [call('weather', { city: 'Oslo' })] },
      { reply: 'Clear.' },
      { reply: 'As I said.' },
    );
    const { body } = await send(app, agentId, { content: 'How is Oslo?' }).expect(200);
    await send(app, agentId, { content: 'Sure?', conversationId: body.conversationId }).expect(200);
    const [, second, third] = server.requests.map((request) => JSON.stringify(request.body));
    expect(second).toContain('sky');
    expect(third).toContain('sky');
    expect(third?.indexOf('sky')).toBeLessThan(third?.indexOf('Clear.') ?? 0);
  });
});

describe('what a model does wrong', () => {
  test('is told to it, with what there is, and nothing is called', async () => {
    const agentId = await reporter(LOCAL);
    server.script(
      { reply: '', toolCalls: [call('forecast', {}), { id: 'call_2', name: 'weather', arguments: '{"city":' }] },
      { reply: 'Sorry.' },
    );
    const { body } = await send(app, agentId, { content: 'And?' }).expect(200);
    expect(body.messages[0].content).toBe('Sorry.');
    expect(tools.received).toEqual([]);
    const back = JSON.stringify(server.requests[1]?.body);
    expect(back).toContain('There is no tool forecast. There are: weather, news.');
  });

  test('calling without end ends: the last step is told to answer', async () => {
    const agentId = await reporter(LOCAL);
    server.fallback = { reply: '', toolCalls: [call('weather', { city: 'Oslo' })] };
    await send(app, agentId, { content: 'And?' }).expect(200);
    expect(server.requests).toHaveLength(24);
    expect(server.requests[22]?.body.tool_choice).not.toBe('none');
    expect(server.requests[23]?.body.tool_choice).toBe('none');
    expect(tools.received).toHaveLength(23);
  });
});

test('a stream tells of the calls in debug-info, and its pieces joined are the reply', async () => {
  const agentId = await reporter(GPT);
  server.script(
    { reply: ['Let me ', 'look.'], toolCalls: [call('weather', { city: 'Oslo' }), call('news', { city: 'Oslo' })] },
    { reply: ['It is ', 'clear.'] },
  );
  const { text } = await app.api('post', `/agents/${agentId}/messages/stream`).send({ content: 'How is Oslo?' });
  const events = [...text.matchAll(/event: (\S+)\ndata: (.*)\n/g)].map(([, name, data]) => [
    name,
    JSON.parse(data ?? ''),
  ]);
  const joined = events.flatMap(([name, data]) => (name === 'text-delta' ? [data.text] : [])).join('');
  expect(joined).toBe('Let me look.\n\nIt is clear.');
  const [name, info] = events.at(-1) ?? [];
  expect(name).toBe('debug-info');
  expect(info.toolCalls).toEqual([
    { name: 'weather', durationMs: expect.any(Number), ok: true },
    { name: 'news', durationMs: expect.any(Number), ok: false },
  ]);
  const conversationId = events[0]?.[1].conversationId;
  const [, reply] = await stored(app, conversationId);
  expect(reply).toMatchObject({ publicId: info.messagePublicId, content: joined });
});

test('a timeout ends the calls too; the turn says so, and the conversation takes further messages', async () => {
  const agentId = await reporter(LOCAL);
  tools.on('/weather', () => {});
  server.script({ reply: '', toolCalls: [call('weather', { city: 'Oslo' })] });
  await send(app, agentId, { content: 'And?', externalUserId: 'patient', timeoutSeconds: 1 }).expect(408);
  const { body: list } = await app.api('get', '/conversations?externalUserId=patient').expect(200);
  const conversationId = list.items[0].publicId;
  expect(await turnsOf(app, conversationId)).toMatchObject([{ status: 'failed', error_code: 'AGENT_TIMEOUT' }]);
  expect((await stepsOf(app, conversationId)).map(({ kind, status }) => [kind, status])).toEqual([
    ['model', 'done'],
    ['tool', 'running'],
  ]);
  tools.on('/weather', answering('{"sky":"clear"}'));
  await send(app, agentId, { content: 'Again?', conversationId }).expect(200);
});
