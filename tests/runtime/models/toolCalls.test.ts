import { callModel, type ModelTool } from '../../../runtime/models/call.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';
import { ask, modelOf, rejection, useModelServer } from './support.ts';

const here = useModelServer();

const tools: ModelTool[] = [{ name: 'look', description: 'Looks.', inputSchema: {} }];
const JSON_TYPE = { 'content-type': 'application/json' };

/** What a compatible server asks for; without usage, as some are. */
const chatAnswer = (message: object, finish_reason = 'tool_calls') => ({
  status: 200,
  headers: JSON_TYPE,
  body: JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason }],
  }),
});
const chatCall = (id: string | undefined, args: string, name = 'look') => ({
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name, arguments: args },
});
const local = (more = {}) => ask(modelOf(here.settings, 'openai-compatible', 'local-model'), { tools, ...more });

async function calls(tool_calls: object[], finish?: string) {
  here.server.script(chatAnswer({ role: 'assistant', content: null, tool_calls }, finish));
  return callModel(here.settings, local());
}

describe('ids', () => {
  test('of a server that gives none, or the same to all, become different ones, the same in the content', async () => {
    const answer = await calls([
      chatCall('', '{}'),
      chatCall(undefined, '{}'),
      chatCall('a', '{}'),
      chatCall('a', '{}'),
    ]);
    const ids = answer.toolCalls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    expect(ids[2]).toBe('a');
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(answer.content.map((part) => part.type === 'tool-call' && part.toolCallId)).toEqual(ids);
  });

  test('that are empty become some', async () => {
    const step = { reply: '', toolCalls: [{ id: '', name: 'look', arguments: '{}' }] };
    here.server.script(step);
    const { toolCalls } = await callModel(
      here.settings,
      ask(modelOf(here.settings, 'anthropic', 'claude-opus-4-6'), { tools }),
    );
    expect(toolCalls[0]?.id).toMatch(/^call_[a-z0-9-]+$/);
  });

  test('that look odd go back unchanged to the compatible server that gave them, and plain to another provider', async () => {
    const { content } = await calls([chatCall('functions.look:0', '{}')]);
    const results = [{ toolCallId: 'functions.look:0', toolName: 'look', text: 'Blue.', isError: false }];
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content },
      { role: 'tool', content: results },
    ];
    await callModel(here.settings, local({ messages }));
    expect(JSON.stringify(here.server.requests.at(-1)?.body).match(/functions\.look:0/g)).toHaveLength(2);
    await callModel(here.settings, ask(modelOf(here.settings, 'anthropic', 'claude-opus-4-6'), { tools, messages }));
    const sent = JSON.stringify(here.server.requests.at(-1)?.body);
    expect(sent.match(/functions_look_0/g)).toHaveLength(2);
    expect(sent).not.toContain('functions.look');
  });
});

describe('arguments', () => {
  test.each([
    ['', {}, null],
    ['null', {}, null],
    ['{"a":{"b":[1]}}', { a: { b: [1] } }, null],
    ['[1]', {}, /not an array/],
    ['"sky"', {}, /not a string/],
    ['7', {}, /not a number/],
    ['{"a":', {}, /not valid JSON/],
  ])('%j', async (text, input, problem) => {
    const { toolCalls, content } = await calls([chatCall('a', text)]);
    expect(toolCalls[0]?.input).toEqual(input);
    if (problem === null) expect(toolCalls[0]?.problem).toBeNull();
    else expect(toolCalls[0]?.problem).toMatch(problem);
    expect(content[0]).toMatchObject({ type: 'tool-call', input });
  });

  test('that the length limit cut off are said to be too long', async () => {
    const { toolCalls, finishReason } = await calls([chatCall('a', '{"a":"bbb')], 'length');
    expect(toolCalls[0]?.problem).toMatch(/cut off.*shorter/);
    expect(finishReason).toBe('length');
  });
});

test('a name that no tool has goes back as providers take names', async () => {
  const { toolCalls, content } = await calls([chatCall('a', '{}', 'functions.look up'), chatCall('b', '{}', 'ls')]);
  expect(toolCalls.map(({ name }) => name)).toEqual(['functions_look_up', 'ls']);
  expect(content[0]).toMatchObject({ toolName: 'functions_look_up' });
});

test('a server that ends a call with "stop" has asked for a call all the same', async () => {
  expect((await calls([chatCall('a', '{}')], 'stop')).finishReason).toBe('tool-calls');
});

test('calls and results count where a server reports no usage: a token per four characters', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', content: '1234' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { at: 1 } }] },
    { role: 'tool', content: [{ toolCallId: 'a', toolName: 'look', text: '12345678', isError: true }] },
  ];
  const said = '1234'.length + '{"at":1}'.length + '12345678'.length;
  const described = JSON.stringify([
    { type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } },
  ]).length;
  here.server.script(chatAnswer({ role: 'assistant', content: 'abcd', tool_calls: [chatCall('a', '{"at":2}')] }));
  const { usage } = await callModel(here.settings, local({ messages }));
  expect(usage).toMatchObject({ inputTokens: Math.ceil((said + described) / 4), outputTokens: 3 });
});

test('an error of the provider does not repeat what tools were given or gave', async () => {
  const secret = 'The patient has a rare disease of the left knee';
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { at: `${secret}!` } }],
    },
    { role: 'tool', content: [{ toolCallId: 'a', toolName: 'look', text: secret, isError: false }] },
  ];
  here.server.script({ status: 400, message: `Cannot read: ${secret}. And: ${JSON.stringify({ at: `${secret}!` })}` });
  const error = await rejection(callModel(here.settings, local({ messages })));
  expect(error.message).toContain('Cannot read');
  expect(error.message).not.toContain('rare disease');
});

describe('a call that Google throws away as malformed', () => {
  const malformed = {
    status: 200,
    headers: JSON_TYPE,
    body: JSON.stringify({ candidates: [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL' }] }),
  };
  const gemini = () => ask(modelOf(here.settings, 'google', 'gemini-3.8-flash'), { tools });

  test('is retried', async () => {
    here.server.script(malformed, { reply: '', toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }] });
    expect((await callModel({ ...here.settings, retries: 1 }, gemini())).toolCalls).toHaveLength(1);
  });

  test('is an unfinished answer when it stays so', async () => {
    here.server.script(malformed);
    expect(await rejection(callModel(here.settings, gemini()))).toMatchObject({
      code: 'MODEL_PROVIDER_ERROR',
      message: 'Google ended its answer before it was complete. Try again.',
    });
  });
});
