import { callModel, type ModelTool } from '../../../runtime/models/call.ts';
import { besidePart, type ModelMessage } from '../../../runtime/models/prompt.ts';
import { ask, modelOf, useModelServer } from './support.ts';

const here = useModelServer();

const tool = (name: string): ModelTool => ({ name, description: `Does ${name}.`, inputSchema: {} });
const call = (toolCallId: string) => ({ type: 'tool-call' as const, toolCallId, toolName: 'look', input: {} });
const result = (toolCallId: string) => ({ toolCallId, toolName: 'look', text: 'Seen.', isError: false });
const step = (...ids: string[]): ModelMessage[] => [
  { role: 'assistant', content: ids.map(call) },
  { role: 'tool', content: ids.map(result) },
];

const MARK = { type: 'ephemeral' };

/** The paths of everything that a request marks. */
function marksIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key !== 'cache_control') return marksIn(inner, `${path}/${key}`);
    expect(inner).toEqual(MARK);
    return [path];
  });
}

describe('a request to Anthropic', () => {
  const send = async (messages: ModelMessage[], more: { system?: string; tools?: ModelTool[] } = {}) => {
    const model = modelOf(here.settings, 'anthropic', 'claude-haiku-4-5');
    await callModel(here.settings, ask(model, { messages, ...more }));
    return here.server.requests.at(-1)?.body ?? {};
  };
  const all = { system: 'You help.', tools: [tool('look'), tool('find')] };
  const asked: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'Now?' }, besidePart('It is noon.')] };

  test('marks the last tool, the system prompt, and the end of the newest message', async () => {
    const history: ModelMessage[] = [
      { role: 'user', content: 'Hello.' },
      ...step('c1'),
      { role: 'assistant', content: 'Hi.' },
    ];
    const body = await send([...history, asked], all);
    expect(marksIn(body).sort()).toEqual(['/messages/4/content/1', '/system/0', '/tools/1']);
    expect(JSON.stringify(body)).not.toContain('guildhall');
  });

  test('marks the newest results too, and the message stays marked for the whole turn', async () => {
    const many = Array.from({ length: 32 }, (_, i) => `m${i}`);
    const body = await send([asked, ...step('c1'), ...step(...many)], all);
    expect(marksIn(body).sort()).toEqual(['/messages/0/content/1', '/messages/4/content/31', '/system/0', '/tools/1']);
  });

  test('marks what there is', async () => {
    expect(marksIn(await send([{ role: 'user', content: 'Hello.' }]))).toEqual(['/messages/0/content/0']);
  });

  test('tells and prices the tokens that were written to the cache', async () => {
    const model = modelOf(here.settings, 'anthropic', 'claude-haiku-4-5');
    here.server.script({ reply: 'Hi.', usage: { input: 1_000, cached: 300, written: 600, output: 10 } });
    const { usage, costUsd } = await callModel(here.settings, ask(model));
    expect(usage).toMatchObject({ inputTokens: 1_000, cachedInputTokens: 300, cacheWriteTokens: 600 });
    expect(costUsd).toBeCloseTo((100 * 1 + 300 * 0.1 + 600 * 1.25 + 10 * 5) / 1e6, 9);
  });
});

describe('a request to OpenAI', () => {
  const keyOf = async (cacheId: string | undefined) => {
    await callModel(here.settings, ask(modelOf(here.settings, 'openai', 'gpt-4.1'), { cacheId }));
    return here.server.requests.at(-1)?.body ?? {};
  };

  test('has a key that is the same for requests that begin alike, and says nothing of them', async () => {
    const { prompt_cache_key: key, store } = await keyOf('conversation/agent');
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(store).toBe(false);
    expect((await keyOf('conversation/agent')).prompt_cache_key).toBe(key);
    expect((await keyOf('conversation/other')).prompt_cache_key).not.toBe(key);
    expect(await keyOf(undefined)).not.toHaveProperty('prompt_cache_key');
  });
});

test('no other provider is sent marks or keys', async () => {
  for (const [provider, modelId] of [
    ['google', 'gemini-2.5-flash'],
    ['openai-compatible', 'local-model'],
  ] as const) {
    const model = modelOf(here.settings, provider, modelId);
    const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'Now?' }, besidePart('Noon.')] }];
    await callModel(here.settings, ask(model, { messages, tools: [tool('look')], cacheId: 'a' }));
    expect(JSON.stringify(here.server.requests.at(-1)?.body)).not.toMatch(/cache|guildhall/);
  }
});
