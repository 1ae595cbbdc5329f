import { callModel, type ModelAnswer, type ModelCall, type ModelTool } from '../../../runtime/models/call.ts';
import type { ModelProvider } from '../../../runtime/models/catalogue.ts';
import { type ModelMessage, withoutProviderParts } from '../../../runtime/models/prompt.ts';
import { SIGNATURES } from '../../support/servers/modelServerWire.ts';
import { ask, modelOf, useModelServer, WIRES } from './support.ts';

const here = useModelServer();

const TOOLS: ModelTool[] = [{ name: 'look', description: 'Looks.', inputSchema: {} }];
const CALLS = [
  { id: 'call_1', name: 'look', arguments: '{"at":"sky"}' },
  { id: 'call_2', name: 'look', arguments: '{"at":"sea"}' },
];
const QUESTION: ModelMessage = { role: 'user', content: 'What do you see?' };
const THOUGHT = 'I have to look twice.';

const question = (provider: ModelProvider, modelId: string, more: Partial<ModelCall> = {}): ModelCall =>
  ask(modelOf(here.settings, provider, modelId), {
    messages: [QUESTION],
    tools: TOOLS,
    thinking: { enabled: true },
    ...more,
  });

const answered = (answer: ModelAnswer): ModelMessage[] => [
  QUESTION,
  { role: 'assistant', content: answer.content },
  {
    role: 'tool',
    content: answer.toolCalls.map(({ id, name }) => ({
      toolCallId: id,
      toolName: name,
      text: 'Blue.',
      isError: false,
    })),
  },
];

/** What of the thoughts stands in the last request, as the provider has it, and what stands around them. */
function sent(provider: ModelProvider): unknown {
  const body = here.server.requests.at(-1)?.body ?? {};
  // biome-ignore lint/suspicious/noExplicitAny: a provider's JSON, looked into freely.
  const list = (body.input ?? body.messages ?? body.contents) as any[];
  if (provider === 'openai') return list.slice(1).map(({ id, status, ...item }) => item);
  const message = list.find(({ role }) => role === 'assistant' || role === 'model');
  if (provider === 'openai-compatible') return message;
  return message.content ?? message.parts;
}

const RESULT = { type: 'function_call_output', output: 'Blue.' };
const REASONING = { type: 'reasoning', encrypted_content: SIGNATURES['openai-responses'] };
const CALLED = {
  openai: [
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"sky"}' },
    { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '{"at":"sea"}' },
    { ...RESULT, call_id: 'call_1' },
    { ...RESULT, call_id: 'call_2' },
  ],
  anthropic: [
    { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'sky' } },
    { type: 'tool_use', id: 'call_2', name: 'look', input: { at: 'sea' } },
  ],
  google: [
    { functionCall: { id: 'call_1', name: 'look', args: { at: 'sky' } }, thoughtSignature: SIGNATURES.google },
    { functionCall: { id: 'call_2', name: 'look', args: { at: 'sea' } } },
  ],
};

const SHOWN: Partial<Record<ModelProvider, unknown>> = {
  openai: [{ ...REASONING, summary: [{ type: 'summary_text', text: THOUGHT }] }, ...CALLED.openai],
  'openai-compatible': expect.objectContaining({ content: null, reasoning_content: THOUGHT }),
  anthropic: [{ type: 'thinking', thinking: THOUGHT, signature: SIGNATURES.anthropic }, ...CALLED.anthropic],
  google: [{ text: THOUGHT, thought: true }, ...CALLED.google],
};
const WITHHELD: Partial<Record<ModelProvider, unknown>> = {
  openai: [{ ...REASONING, summary: [] }, ...CALLED.openai],
  'openai-compatible': expect.not.objectContaining({ reasoning_content: expect.anything() }),
  anthropic: [{ type: 'redacted_thinking', data: SIGNATURES['anthropic withheld'] }, ...CALLED.anthropic],
  google: CALLED.google,
};
const NONE: Partial<Record<ModelProvider, unknown>> = {
  openai: CALLED.openai,
  'openai-compatible': WITHHELD['openai-compatible'],
  anthropic: CALLED.anthropic,
  // The package says itself that there is no signature, as Google documents it.
  google: [
    {
      functionCall: { id: 'call_1', name: 'look', args: { at: 'sky' } },
      thoughtSignature: expect.stringMatching(/^skip/),
    },
    {
      functionCall: { id: 'call_2', name: 'look', args: { at: 'sea' } },
      thoughtSignature: expect.stringMatching(/^skip/),
    },
  ],
};

describe.each(WIRES)('thoughts over the wire format of %s', (provider, modelId) => {
  /** Answers of a thinking model to one question, whole and streamed. */
  async function thought(withheld: boolean): Promise<ModelAnswer[]> {
    const step = { reply: '', thinking: THOUGHT, withheld, toolCalls: CALLS };
    here.server.script(step, step);
    return [
      await callModel(here.settings, question(provider, modelId)),
      await callModel(here.settings, question(provider, modelId, { onText: () => {} })),
    ];
  }

  test.each([
    ['that are shown', false, SHOWN],
    ['that are withheld', true, WITHHELD],
  ])('%s go back unchanged, before the calls that they led to', async (_, withheld, expected) => {
    const answers = await thought(withheld);
    for (const answer of answers) {
      expect(answer.text).toBe('');
      expect(answer.toolCalls).toHaveLength(2);
      // Stored between two steps.
      const messages = JSON.parse(JSON.stringify(answered(answer))) as ModelMessage[];
      await callModel(here.settings, question(provider, modelId, { messages }));
      expect(sent(provider)).toEqual(expected[provider]);
    }
  });

  test('nothing of them is left for another model', async () => {
    for (const answer of await thought(false)) {
      const messages = withoutProviderParts(answered(answer));
      expect(JSON.stringify(messages)).not.toMatch(/providerOptions|reasoning|twice/);
      await callModel(here.settings, question(provider, modelId, { messages }));
      expect(sent(provider)).toEqual(NONE[provider]);
    }
  });
});

describe('thoughts', () => {
  test('OpenAI is asked for them encrypted, because it keeps nothing, and not for a summary', async () => {
    await callModel(here.settings, question('openai', 'gpt-5.4'));
    const { body } = here.server.requests[0] ?? {};
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    expect(body?.reasoning).not.toHaveProperty('summary');
  });

  test('the signature that Google gives to the end of an answer goes back with its text', async () => {
    for (const onText of [undefined, () => {}]) {
      here.server.script({ reply: 'Blue.', thinking: THOUGHT });
      const { content } = await callModel(here.settings, question('google', 'gemini-3.8-flash', { onText }));
      const messages: ModelMessage[] = [QUESTION, { role: 'assistant', content }, QUESTION];
      await callModel(here.settings, question('google', 'gemini-3.8-flash', { messages }));
      expect(JSON.stringify(sent('google'))).toContain(SIGNATURES.google);
    }
  });
});
