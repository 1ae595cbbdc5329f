import { callModel, type ModelAnswer, type ModelCall } from '../../../runtime/models/call.ts';
import { BUILTIN_MODEL } from '../../../runtime/models/catalogue.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { processorMs } from '../../support/processorTime.ts';
import { ask } from './support.ts';

const settings: ModelSettings = { retries: 0 };
const NAMES = ['get_weather', 'get_time', 'search', 'send-mail'];
const tools = NAMES.map((name) => ({ name, description: name, inputSchema: {} }));
const user = (content: string): ModelMessage => ({ role: 'user', content });

const say = (messages: ModelMessage[], more: Partial<ModelCall> = {}): Promise<ModelAnswer> =>
  callModel(settings, ask(BUILTIN_MODEL, { messages, tools, ...more }));

/** The calls of the first step. */
async function asked(message: string, more: Partial<ModelCall> = {}) {
  const { toolCalls } = await say([user(message)], more);
  return toolCalls.map(({ name, input }) => [name, input]);
}

/** What a step adds to the conversation: the calls, and a result for each. */
const performed = (answer: ModelAnswer, text = 'Sunny.', isError = false): ModelMessage[] => [
  { role: 'assistant', content: answer.content },
  {
    role: 'tool',
    content: answer.toolCalls.map(({ id, name }) => ({ toolCallId: id, toolName: name, text, isError })),
  },
];

describe('the built-in model calls a tool', () => {
  test.each([
    ['call get_weather {"city":"Paris"}', { city: 'Paris' }],
    ['Please use the tool get_weather with {"city":"Paris"}, thank you.', { city: 'Paris' }],
    ['Run get_weather', {}],
    ['Could you run get_weather?', {}],
    ['call `get_weather` with `{"city":"Paris"}`', { city: 'Paris' }],
    ['call "get_weather" {"city":"Paris"}', { city: 'Paris' }],
    ['invoke the function get_weather({"city":"Paris"})', { city: 'Paris' }],
    ['use the get_weather tool with the arguments: {"city":"Paris"}', { city: 'Paris' }],
    ['Execute the tool called get_weather with input\n```json\n{\n  "city": "Paris"\n}\n```', { city: 'Paris' }],
    [
      'call get_weather {"a":{"b":[{"c":"} then call get_time {"}]},"q":"\\"}"}',
      { a: { b: [{ c: '} then call get_time {' }] }, q: '"}' },
    ],
  ])('%s', async (message, input) => {
    expect(await asked(message)).toEqual([['get_weather', input]]);
  });

  test('of an ordinary word or a name with a hyphen, when it is offered', async () => {
    expect(await asked('use search {"q":"x"}')).toEqual([['search', { q: 'x' }]]);
    expect(await asked('run send-mail.')).toEqual([['send-mail', {}]]);
  });

  test.each([
    'call get_weather {"city":"Paris"} and call get_time {"zone":"UTC"}',
    'call get_weather {"city":"Paris"}, get_time {"zone":"UTC"}',
    'Call get_weather {"city":"Paris"}\ncall get_time {"zone":"UTC"}',
  ])('several in one message side by side: %j', async (message) => {
    expect(await asked(message)).toEqual([
      ['get_weather', { city: 'Paris' }],
      ['get_time', { zone: 'UTC' }],
    ]);
  });

  test('twice with ids of their own, the same every time, streamed too', async () => {
    const message = [user('call get_time {"n":1} and get_time {"n":2}')];
    const answer = await say(message);
    expect(new Set(answer.toolCalls.map(({ id }) => id)).size).toBe(2);
    expect(answer).toMatchObject({ text: '', finishReason: 'tool-calls' });
    expect(await say(message)).toEqual(answer);
    expect(await say(message, { onText: () => {} })).toEqual(answer);
    expect(answer.usage.outputTokens).toBeGreaterThan(0);
  });

  test('with what the message has for arguments, also when it is no JSON', async () => {
    const { toolCalls } = await say([user('call get_weather {"city": Paris}')]);
    expect(toolCalls).toMatchObject([{ name: 'get_weather', input: {}, problem: expect.stringContaining('JSON') }]);
  });
});

describe('the built-in model calls nothing', () => {
  test.each([
    'Call me tomorrow.',
    'How do I use this tool?',
    'May I use a tool for that?',
    'Recall get_weather {}',
    'run for it',
  ])('in an ordinary sentence: %s', async (message) => {
    const { text, toolCalls } = await say([user(message)]);
    expect(toolCalls).toEqual([]);
    expect(text).toContain(`You wrote: “${message}”`);
  });

  test.each([
    'call get_wether {}',
    'use the tool wether',
    'run `wether`',
    'call get_weather {} then run get_wether',
    'call wether {"a":1}',
  ])('when one of the names is none of a tool, and says which there are: %s', async (message) => {
    const { text, toolCalls } = await say([user(message)]);
    expect(toolCalls).toEqual([]);
    expect(text).toMatch(/There is no tool (get_)?wether\./);
    expect(text).toContain('I can call 4 tools: get_weather, get_time, search, send-mail.');
  });

  test('without tools, and says so', async () => {
    const { text, toolCalls } = await say([user('call get_weather {}')], { tools: [] });
    expect(toolCalls).toEqual([]);
    expect(text).toContain('There is no tool get_weather. I have no tools.');
  });

  test('when the choice is none: before the calls and between them', async () => {
    const message = user('call get_weather then call get_time');
    const none = { toolChoice: 'none' as const };
    expect((await say([message], none)).text).toContain('I may not call tools now.');
    const first = await say([message]);
    const { text, toolCalls } = await say([message, ...performed(first)], none);
    expect(toolCalls).toEqual([]);
    expect(text).toContain('get_weather answered: “Sunny.”');
    expect(text).toContain('So I did not call get_time.');
  });
});

describe('after its calls the built-in model', () => {
  test('says what each tool answered, whether it failed, and long results cut', async () => {
    const message = user('call get_weather and call get_time');
    const { content, toolCalls } = await say([message]);
    const [weather, time] = toolCalls.map(({ id, name }) => ({ toolCallId: id, toolName: name }));
    if (!weather || !time) throw new Error('There are two calls.');
    const results = [
      { ...weather, text: 'x'.repeat(5_000), isError: false },
      { ...time, text: 'The clock\nis broken.', isError: true },
    ];
    const { text, finishReason } = await say([
      message,
      { role: 'assistant', content },
      { role: 'tool', content: results },
    ]);
    expect(finishReason).toBe('stop');
    expect(text).toContain('not an LLM');
    expect(text).toMatch(/get_weather answered: “x{2000}…”/);
    expect(text).toContain('get_time failed: “The clock is broken.”');
  });

  test.each([
    'call get_weather {"city":"Paris"} then call get_time {"n":1} and search',
    'call get_weather {"city":"Paris"}, and then get_time {"n":1} and search',
  ])('continues with the calls after “then”, step by step: %s', async (text) => {
    const conversation = [user(text)];
    const names: string[][] = [];
    for (let step = 0; step < 5; step += 1) {
      const answer = await say(conversation);
      if (answer.toolCalls.length === 0) break;
      names.push(answer.toolCalls.map(({ name }) => name));
      conversation.push(...performed(answer));
    }
    expect(names).toEqual([['get_weather'], ['get_time', 'search']]);
    expect((await say(conversation)).text.match(/answered/g)).toHaveLength(3);
  });

  test('makes the same call as often as it was asked for, with ids that never come again', async () => {
    const conversation = [user('call get_time then call get_time')];
    const ids: string[] = [];
    for (let step = 0; step < 2; step += 1) {
      const answer = await say(conversation);
      ids.push(...answer.toolCalls.map(({ id }) => id));
      conversation.push(...performed(answer));
    }
    expect(new Set(ids).size).toBe(2);
    expect((await say(conversation)).toolCalls).toEqual([]);
  });

  test('does not go on after a failure or a rejection, and reports it', async () => {
    const message = user('call get_weather then call get_time');
    const first = await say([message]);
    const { text, toolCalls } = await say([message, ...performed(first, 'A person rejected this call.', true)]);
    expect(toolCalls).toEqual([]);
    expect(text).toContain('get_weather failed: “A person rejected this call.”');
    expect(text).toContain('So I did not call get_time.');
  });

  test('continues where it was after a message that only approved the call', async () => {
    const message = user('call get_weather then call get_time');
    const first = await say([message]);
    const conversation = [message, user('approve'), ...performed(first)];
    const second = await say(conversation);
    expect(second.toolCalls.map(({ name }) => name)).toEqual(['get_time']);
    expect((await say([...conversation, ...performed(second)])).text.match(/answered/g)).toHaveLength(2);
  });

  test('does what the last message asks for when it came instead of an approval', async () => {
    const first = await say([user('call get_weather')]);
    const conversation = [user('call get_weather'), user('call search {}'), ...performed(first, 'Not approved.', true)];
    const second = await say(conversation);
    expect(second.toolCalls.map(({ name }) => name)).toEqual(['search']);
    expect((await say([...conversation, ...performed(second)])).toolCalls).toEqual([]);
  });

  test('answers the next message, not the calls of earlier ones', async () => {
    const first = await say([user('call get_weather')]);
    const { text } = await say([user('call get_weather'), ...performed(first), user('Thank you.')]);
    expect(text).toContain('You wrote: “Thank you.”');
    expect(text).toContain('I see 3 earlier messages');
  });
});

test('a message of blanks and half-written calls takes no time', async () => {
  const ms = await processorMs(async () => {
    await asked(`call get_weather ${' '.repeat(30_000)}with${' '.repeat(30_000)}`);
    await asked(`${'call a '.repeat(5_000)}${'call get_time, '.repeat(5_000)}${'{'.repeat(20_000)}`);
  });
  expect(ms).toBeLessThan(2_000);
});
