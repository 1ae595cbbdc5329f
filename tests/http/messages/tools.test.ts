import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { answering } from '../../support/tools/httpTools.ts';
import { GPT, HAIKU, LOCAL, send, stored } from './turns.ts';

const here = useModelApp({ tools: true });
let weather: string;
let news: string;

beforeAll(async () => {
  here.tools.on('/weather', answering('{"sky":"clear"}'));
  here.tools.on('/news', answering('{"error":"down"}', 'application/json', 503));
  weather = (await postTool(here.app, here.tools, '/weather')).publicId;
  news = (await postTool(here.app, here.tools, '/news')).publicId;
});

const reporter = (aiModelPublicId: string) =>
  agentWith(
    here.app,
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
  test('a call that the model asks for is made, the model gets the result, and its text is the reply', async () => {
    const agentId = await reporter(model);
    here.server.script(
      { reply: 'Let me look.', toolCalls: [call('weather', { city: 'Oslo' })], usage: { input: 100, output: 10 } },
      { reply: 'It is clear.', usage: { input: 150, output: 5 } },
    );
    const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
    expect(here.tools.received.map(({ body: sent }) => JSON.parse(sent))).toEqual([{ city: 'Oslo' }]);
    expect(JSON.stringify(here.server.requests[0]?.body)).toContain('Does weather.');
    expect(JSON.stringify(here.server.requests[1]?.body)).toContain('sky');
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Let me look.\n\nIt is clear.' }]);
    expect(body.usage).toMatchObject({ inputTokens: 250, outputTokens: 15 });
    expect(body.message.tokenUsage).toEqual({ inputTokens: 250, outputTokens: 15, totalTokens: 265 });
    const steps = await stepsOf(here.app, body.conversationId);
    expect(steps.map(({ kind, status, name }) => [kind, status, name])).toEqual([
      ['model', 'done', body.message.model],
      ['tool', 'done', 'weather'],
      ['model', 'done', body.message.model],
    ]);
    expect(steps[1]).toMatchObject({ input: { city: 'Oslo' }, output: { text: '{"sky":"clear"}', isError: false } });
    expect(steps[0]).toMatchObject({ input_tokens: 100, output_tokens: 10 });
    expect(steps[0]?.input).toEqual({ messages: 1, tools: 2 });
    expect(steps[2]?.input).toEqual({ messages: 3, tools: 2 });
    expect(await turnsOf(here.app, body.conversationId)).toMatchObject([
      { status: 'done', kind: 'message', input_tokens: 250, output_tokens: 15 },
    ]);
  });

  test('calls of one step are made in parallel, and the model gets their failures', async () => {
    const agentId = await reporter(model);
    let arrived = 0;
    let go = () => {};
    const both = new Promise<void>((resolve) => {
      go = resolve;
    });
    here.tools.on('/weather', async (_received, response) => {
      arrived += 1;
      if (arrived === 2) go();
      await both;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"sky":"grey"}');
    });
    here.server.script(
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
    const { body } = await send(here.app, agentId, { content: 'And?' }).expect(200);
    expect(body.messages[0].content).toBe('Done.');
    const back = JSON.stringify(here.server.requests[1]?.body);
    expect(back.match(/grey/g)).toHaveLength(2);
    expect(back).toContain('503');
    const steps = await stepsOf(here.app, body.conversationId);
    expect(steps.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'failed', 'done']);
    here.tools.on('/weather', answering('{"sky":"clear"}'));
  });

  test('a later turn of the conversation still sees the results of the tools', async () => {
    const agentId = await reporter(model);
    here.server.script(
      { reply: '', toolCalls: [call('weather', { city: 'Oslo' })] },
      { reply: 'Clear.' },
      { reply: 'As I said.' },
    );
    const { body } = await send(here.app, agentId, { content: 'How is Oslo?' }).expect(200);
    await send(here.app, agentId, { content: 'Sure?', conversationId: body.conversationId }).expect(200);
    const [, second, third] = here.server.requests.map((request) => JSON.stringify(request.body));
    expect(second).toContain('sky');
    expect(third).toContain('sky');
    expect(third?.indexOf('sky')).toBeLessThan(third?.indexOf('Clear.') ?? 0);
  });
});

describe('a mistake of the model', () => {
  test('gives it an error with the existing tools, and nothing is called', async () => {
    const agentId = await reporter(LOCAL);
    here.server.script(
      { reply: '', toolCalls: [call('forecast', {}), { id: 'call_2', name: 'weather', arguments: '{"city":' }] },
      { reply: 'Sorry.' },
    );
    const { body } = await send(here.app, agentId, { content: 'And?' }).expect(200);
    expect(body.messages[0].content).toBe('Sorry.');
    expect(here.tools.received).toEqual([]);
    const back = JSON.stringify(here.server.requests[1]?.body);
    expect(back).toContain('There is no tool forecast. There are: weather, news.');
  });

  test('endless calling is stopped: in the last step the model must reply', async () => {
    const agentId = await reporter(LOCAL);
    here.server.fallback = { reply: '', toolCalls: [call('weather', { city: 'Oslo' })] };
    await send(here.app, agentId, { content: 'And?' }).expect(200);
    expect(here.server.requests).toHaveLength(24);
    expect(here.server.requests[22]?.body.tool_choice).not.toBe('none');
    expect(here.server.requests[23]?.body.tool_choice).toBe('none');
    expect(here.tools.received).toHaveLength(23);
  });
});

test('a stream has the calls in debug-info, and its joined pieces are the reply', async () => {
  const agentId = await reporter(GPT);
  here.server.script(
    { reply: ['Let me ', 'look.'], toolCalls: [call('weather', { city: 'Oslo' }), call('news', { city: 'Oslo' })] },
    { reply: ['It is ', 'clear.'] },
  );
  const { text } = await here.app.api('post', `/agents/${agentId}/messages/stream`).send({ content: 'How is Oslo?' });
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
  const [, reply] = await stored(here.app, conversationId);
  expect(reply).toMatchObject({ publicId: info.messagePublicId, content: joined });
});

test('a timeout ends the calls too; the turn records it, and the conversation accepts further messages', async () => {
  const agentId = await reporter(LOCAL);
  here.tools.on('/weather', () => {});
  here.server.script({ reply: '', toolCalls: [call('weather', { city: 'Oslo' })] });
  await send(here.app, agentId, { content: 'And?', externalUserId: 'patient', timeoutSeconds: 1 }).expect(408);
  const { body: list } = await here.app.api('get', '/conversations?externalUserId=patient').expect(200);
  const conversationId = list.items[0].publicId;
  expect(await turnsOf(here.app, conversationId)).toMatchObject([{ status: 'failed', error_code: 'AGENT_TIMEOUT' }]);
  expect((await stepsOf(here.app, conversationId)).map(({ kind, status }) => [kind, status])).toEqual([
    ['model', 'done'],
    ['tool', 'running'],
  ]);
  here.tools.on('/weather', answering('{"sky":"clear"}'));
  await send(here.app, agentId, { content: 'Again?', conversationId }).expect(200);
});
