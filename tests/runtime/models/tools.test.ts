import { callModel, type ModelAnswer, type ModelCall, type ModelTool } from '../../../runtime/models/call.ts';
import type { ModelMessage, ToolResultPart } from '../../../runtime/models/prompt.ts';
import type { Step } from '../../support/servers/modelServer.ts';
import { ask, modelOf, useModelServer, WIRES } from './support.ts';
import { callsOf, resultsOf, toolsOf } from './wire.ts';

const here = useModelServer();

const WEATHER: ModelTool = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { city: { type: 'string' }, place: { $ref: '#/$defs/place' } },
    required: ['city'],
    $defs: { place: { type: 'object', properties: { zip: { type: 'string' } } } },
  },
};
const TIME: ModelTool = { name: 'get_time', description: 'Tells the time.', inputSchema: {} };
const PARIS = { id: 'call_1', name: 'get_weather', arguments: '{"city":"São Paulo","days":[1,{"n":2}]}' };
const NOW = { id: 'call_2', name: 'get_time', arguments: '{}' };
const QUESTION: ModelMessage = { role: 'user', content: 'How is the weather?' };

describe.each(WIRES)('tools over the wire format of %s', (provider, modelId) => {
  const question = (more: Partial<ModelCall> = {}): ModelCall =>
    ask(modelOf(here.settings, provider, modelId), { messages: [QUESTION], tools: [WEATHER, TIME], ...more });

  /** The answers to one step, whole and streamed. */
  async function both(step: Step, more: Partial<ModelCall> = {}): Promise<[ModelAnswer, ModelAnswer]> {
    here.server.script(step, step);
    return [
      await callModel(here.settings, question(more)),
      await callModel(here.settings, question({ ...more, onText: () => {} })),
    ];
  }

  const body = (at = -1) => here.server.requests.at(at)?.body ?? {};

  test('describes them: an object with properties, references kept, not strict, and no choice forced', async () => {
    await callModel(here.settings, question());
    const [weather, time] = toolsOf(provider, body());
    const { $schema, ...schema } = WEATHER.inputSchema;
    expect(weather).toEqual({ name: 'get_weather', description: 'Tells the weather of a city.', schema });
    expect(time).toEqual({
      name: 'get_time',
      description: 'Tells the time.',
      schema: { type: 'object', properties: {} },
    });
    const sent = JSON.stringify(body());
    expect(sent).not.toContain('"strict":true');
    // Where nothing is said, the Responses API makes functions strict.
    expect(sent.includes('"strict":false')).toBe(provider === 'openai');
    expect(body()).not.toHaveProperty('tool_choice');
    expect(body()).not.toHaveProperty('toolConfig');
  });

  test('arguments are not streamed before they are whole, which would let them be no JSON', async () => {
    await callModel(here.settings, question({ onText: () => {} }));
    expect(JSON.stringify(body())).not.toContain('eager_input_streaming');
  });

  test('a call without any text, split over chunks or not', async () => {
    for (const answer of await both({ reply: '', toolCalls: [PARIS] })) {
      const input = { city: 'São Paulo', days: [1, { n: 2 }] };
      expect(answer).toMatchObject({ text: '', finishReason: 'tool-calls' });
      expect(answer.toolCalls).toEqual([{ id: 'call_1', name: 'get_weather', input, problem: null }]);
      expect(answer.content).toMatchObject([
        { type: 'tool-call', toolCallId: 'call_1', toolName: 'get_weather', input },
      ]);
    }
  });

  test('parallel calls after a text keep their order', async () => {
    for (const answer of await both({ reply: ['Let me ', 'look.'], toolCalls: [PARIS, NOW] })) {
      expect(answer.text).toBe('Let me look.');
      expect(answer.toolCalls.map(({ id, name }) => [id, name])).toEqual([
        ['call_1', 'get_weather'],
        ['call_2', 'get_time'],
      ]);
      expect(answer.content.map(({ type }) => type)).toEqual(['text', 'tool-call', 'tool-call']);
    }
  });

  test('the model gets an error for arguments that are not a JSON object, and its call is sent back with an empty object', async () => {
    const broken = { id: 'call_1', name: 'get_weather', arguments: '{"city": oops' };
    for (const answer of await both({ reply: '', toolCalls: [broken, NOW] })) {
      const [first, second] = answer.toolCalls;
      expect(first).toMatchObject({ id: 'call_1', input: {}, problem: expect.stringMatching(/JSON.*again/) });
      expect(second).toMatchObject({ id: 'call_2', problem: null });
      here.server.script({ reply: 'Sorry.' });
      const results = [first, second].map((call): ToolResultPart => {
        return { toolCallId: call?.id ?? '', toolName: call?.name ?? '', text: call?.problem ?? 'ok', isError: true };
      });
      await callModel(
        here.settings,
        question({
          messages: [QUESTION, { role: 'assistant', content: answer.content }, { role: 'tool', content: results }],
        }),
      );
      expect(callsOf(provider, body())[0]).toEqual({ id: 'call_1', name: 'get_weather', input: {} });
    }
  });

  test('calls and their results are sent back, errors as errors', async () => {
    const [answer] = await both({ reply: 'Let me look.', toolCalls: [PARIS, NOW] });
    const content: ToolResultPart[] = [
      { toolCallId: 'call_1', toolName: 'get_weather', text: 'Sunny, 30 °C', isError: false },
      { toolCallId: 'call_2', toolName: 'get_time', text: 'The clock is broken.', isError: true },
    ];
    here.server.reset();
    here.server.script({ reply: 'Sunny.' });
    const messages: ModelMessage[] = [
      QUESTION,
      { role: 'assistant', content: answer.content },
      { role: 'tool', content },
    ];
    expect((await callModel(here.settings, question({ messages }))).text).toBe('Sunny.');
    expect(callsOf(provider, body())).toEqual([
      { id: 'call_1', name: 'get_weather', input: { city: 'São Paulo', days: [1, { n: 2 }] } },
      { id: 'call_2', name: 'get_time', input: {} },
    ]);
    const [good, bad] = resultsOf(provider, body());
    expect(good).toEqual({ id: 'call_1', text: 'Sunny, 30 °C', isError: false });
    // Chat completions have no mark of an error: the text has to say it.
    expect(bad).toEqual({ id: 'call_2', text: 'The clock is broken.', isError: provider !== 'openai-compatible' });
    expect(JSON.stringify(body())).toContain('Let me look.');
  });

  const CHOSEN_NONE = {
    openai: { tool_choice: 'none' },
    'openai-compatible': { tool_choice: 'none' },
    anthropic: { tool_choice: { type: 'none' } },
    google: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    builtin: {},
  };

  test('toolChoice none keeps the tools described and forbids them; a call that comes all the same is dropped', async () => {
    const [whole, streamed] = await both({ reply: 'Enough.', toolCalls: [PARIS] }, { toolChoice: 'none' });
    for (const answer of [whole, streamed]) {
      expect(answer).toMatchObject({ text: 'Enough.', toolCalls: [], finishReason: 'stop' });
      expect(answer.content.map(({ type }) => type)).toEqual(['text']);
    }
    for (const at of [0, 1]) {
      expect(toolsOf(provider, body(at)).map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
      expect(body(at)).toMatchObject(CHOSEN_NONE[provider]);
    }
  });

  test('calls in a conversation whose tools are gone are described as gone and forbidden; without calls nothing is said of tools', async () => {
    const content: ToolResultPart[] = [{ toolCallId: 'a', toolName: 'old_tool', text: 'Done.', isError: false }];
    const messages: ModelMessage[] = [
      QUESTION,
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'old_tool', input: {} }] },
      { role: 'tool', content },
      QUESTION,
    ];
    await callModel(here.settings, question({ messages, tools: [] }));
    expect(toolsOf(provider, body()).map(({ name }) => name)).toEqual(['old_tool']);
    expect(body()).toMatchObject(CHOSEN_NONE[provider]);
    await callModel(here.settings, question({ tools: [] }));
    expect(body()).not.toHaveProperty('tools');
    expect(body()).not.toHaveProperty('tool_choice');
  });
});
