import { jest } from '@jest/globals';
import { v7 } from 'uuid';
import { chunksOf, jsonOfChunk, type LogValue } from '../../../runtime/agent/requestChunks.ts';
import { RequestLog } from '../../../runtime/agent/requestLog.ts';
import { RequestMemory } from '../../../runtime/agent/requestMemory.ts';
import { weekOf } from '../../../runtime/agent/requestWeek.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';

const AGENT = v7();
const LONG = 'You report. '.repeat(100);
const tool = { name: 'weather', description: 'The weather. '.repeat(50), inputSchema: { type: 'object' } };
const user = (content: string): ModelMessage => ({ role: 'user', content });

let memory: RequestMemory;
let conversationId: string;
beforeEach(() => {
  memory = new RequestMemory();
  conversationId = v7();
});

const logOf = (turnId = v7()) => new RequestLog(memory, { workspaceId: AGENT, turnId, conversationId });
const add = async (
  log: RequestLog,
  seq: number,
  messages: ModelMessage[],
  isSystemFixed = true,
  system = LONG,
  tools = [tool],
) => {
  const settings = { toolChoice: 'auto' as const, thinking: { enabled: false } };
  const prepared = await log.prepare(AGENT, { system, isSystemFixed, tools, messages, settings });
  log.added(prepared, seq);
  const parts = prepared.parts.map((part) => ({ ...part, content: String(part.content) }));
  return { json: String(prepared.json), stored: JSON.parse(String(prepared.json)), parts };
};

test('what is the agent’s own is a part by itself, until it is known to be stored', async () => {
  const first = await add(logOf(), 0, [user('Hi.')]);
  expect(first.parts.map(({ content }) => JSON.parse(content))).toEqual([LONG, [tool]]);
  const [system, tools] = first.parts.map(({ digest }) => ({ part: digest }));
  expect(first.stored).toMatchObject({ format: 1, system, tools, messages: [{ role: 'user', content: 'Hi.' }] });
  const log = logOf();
  for (const part of first.parts) log.partStored(part);
  expect(await add(log, 0, [user('Hi.')])).toMatchObject({ parts: [], stored: { system, tools } });
});

test('instructions that were filled in for a conversation are no part of the agent', async () => {
  const { stored, parts } = await add(logOf(), 0, [user('Hi.')], false);
  expect(stored.system).toBe(LONG);
  expect(parts.map(({ content }) => JSON.parse(content))).toEqual([[tool]]);
});

test('instructions and tools that changed since the request before are stored anew, and only they', async () => {
  const partsOf = async (log: RequestLog, system: string, tools: (typeof tool)[]) => {
    const { parts } = await add(log, 0, [user('Hi.')], true, system, tools);
    for (const part of parts) log.partStored(part);
    return parts.map(({ content }) => JSON.parse(content));
  };
  expect(await partsOf(logOf(), LONG, [tool])).toEqual([LONG, [tool]]);
  const changed = [{ name: 'forecast' }, { description: `${tool.description}!` }, { inputSchema: { type: 'null' } }];
  for (const tools of [...changed.map((change) => [{ ...tool, ...change }]), [tool, { ...tool, name: 'other' }]]) {
    expect(await partsOf(logOf(), LONG, tools)).toEqual([tools]);
    expect(await partsOf(logOf(), LONG, tools)).toEqual([]);
    expect(await partsOf(logOf(), LONG, [tool])).toEqual([]);
  }
  expect(await partsOf(logOf(), `${LONG}!`, [tool])).toEqual([`${LONG}!`]);
  expect(await partsOf(logOf(), LONG, [tool])).toEqual([]);
});

test('large schemas of many agents are not all kept', () => {
  const agents = Array.from({ length: 100 }, (_, number) => `agent ${number}`);
  for (const agent of agents) {
    const inputSchema = { type: 'object', description: `${agent} `.repeat(50_000) };
    memory.rememberBeginning(agent, {
      system: '',
      tools: [{ ...tool, inputSchema }],
      digests: { system: '', tools: '' },
    });
  }
  const kept = agents.filter((agent) => memory.beginningOf(agent));
  expect(kept.length).toBeGreaterThan(10);
  expect(kept.length).toBeLessThan(30);
});

test('a step names the earlier one that it begins like, of its turn or of the turn before, if that is stored', async () => {
  const [earlier, later] = [v7(), v7()];
  const messages = [user('Hi.'), user('Ho.')];
  const log = logOf(earlier);
  await add(log, 0, messages);
  const second = (await add(log, 2, [...messages, user('He.')])).stored;
  expect(second).toMatchObject({ base: { turnId: earlier, seq: 0, messages: 2 }, messages: [{ content: 'He.' }] });
  expect(second).not.toHaveProperty('system');
  const next = async () => (await add(logOf(later), 0, [user('Hi.'), user('Ho.'), user('New.')])).stored;
  expect(await next()).not.toHaveProperty('base');
  log.stored(AGENT);
  expect(await next()).toMatchObject({
    base: { turnId: earlier, seq: 2, messages: 2 },
    messages: [{ content: 'New.' }],
  });
});

test('a request of another week stands by itself: the steps of a week are removed together', async () => {
  const monday = Date.UTC(2026, 10, 23);
  const [before, after] = [v7({ msecs: monday - 1 }), v7({ msecs: monday })];
  expect([weekOf(before), weekOf(after)]).toEqual(['2026-11-16', '2026-11-23']);
  const log = logOf(before);
  await add(log, 0, [user('Hi.')]);
  log.stored(AGENT);
  const { stored, parts } = await add(logOf(after), 0, [user('Hi.'), user('Ho.')]);
  expect(stored).not.toHaveProperty('base');
  expect(parts).toHaveLength(2);
});

test('a chain ends after 256 requests', async () => {
  const messages: ModelMessage[] = [];
  let whole = 0;
  for (let i = 0; i < 300; i += 1) {
    messages.push(user(`Message ${i}`));
    const log = logOf();
    if (!('base' in (await add(log, 0, messages)).stored)) whole += 1;
    log.stored(AGENT);
  }
  expect(whole).toBe(2);
});

test('of a request that is too large, the newest messages are kept', async () => {
  const { stored } = await add(logOf(), 0, [user('a'.repeat(9_000_000)), user('b'.repeat(2_000_000)), user('Hi.')]);
  expect(stored.messages).toHaveLength(3);
  expect(stored.messages[0]).toEqual({ role: 'user', omitted: expect.any(Number) });
  expect(stored.messages[1].content).toHaveLength(2_000_000);
});

describe('a request of megabytes', () => {
  const long = (length: number) => 'Word "and" line\n€'.repeat(length / 17 + 1).slice(0, length);
  const kinds: [string, () => ModelMessage[]][] = [
    ['one message', () => [user(long(5_000_000))]],
    ['messages', () => Array.from({ length: 1_000 }, (_, place) => user(`${place} ${long(5_000)}`))],
    [
      'results of tools',
      () => [
        user('Hi.'),
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'weather', input: { note: long(1_000_000) } }],
        },
        {
          role: 'tool',
          content: Array.from({ length: 100 }, () => ({
            toolCallId: 'a',
            toolName: 'weather',
            text: long(40_000),
            isError: false,
          })),
        },
      ],
    ],
  ];

  test.each(kinds)('is stored whole, in slices between which others are served: %s', async (_kind, messagesOf) => {
    const stringify = jest.spyOn(JSON, 'stringify');
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    try {
      setImmediate(count);
      const settings = { toolChoice: 'auto' as const, thinking: { enabled: false } };
      const request = { system: LONG, isSystemFixed: true, tools: [tool], messages: messagesOf(), settings };
      const { json } = await logOf().prepare(AGENT, request);
      isDone = true;
      // Two passes over five million characters, of which each slice has 64,000 at most.
      expect(turns).toBeGreaterThan(120);
      const made = stringify.mock.results.map(({ value }) => String(value).length);
      expect(Math.max(...made)).toBeLessThan(150_000);
      expect(Buffer.isBuffer(json)).toBe(true);
      const { messages } = JSON.parse(String(json));
      // Not by a matcher, which would print megabytes.
      expect(JSON.stringify(messages) === JSON.stringify(messagesOf())).toBe(true);
    } finally {
      isDone = true;
      stringify.mockRestore();
    }
  });

  test('is found again as the beginning of the next one', async () => {
    for (const [, messagesOf] of kinds) {
      const log = logOf();
      await add(log, 0, messagesOf());
      log.stored(AGENT);
      const { stored } = await add(logOf(), 0, [...messagesOf(), user('More.')]);
      expect(stored.base).toMatchObject({ seq: 0, messages: messagesOf().length });
      expect(stored.messages).toEqual([{ role: 'user', content: 'More.' }]);
    }
  });

  test('no JSON is made of what is left out', async () => {
    const stringify = jest.spyOn(JSON, 'stringify');
    try {
      const { stored } = await add(logOf(), 0, [user('a'.repeat(9_900_000)), user('b'.repeat(300_000)), user('Hi.')]);
      expect(stored.messages[0]).toMatchObject({ role: 'user', omitted: expect.any(Number) });
      const made = stringify.mock.results.reduce((sum, { value }) => sum + String(value).length, 0);
      expect(made).toBeLessThan(350_000);
    } finally {
      stringify.mockRestore();
    }
  });
});

test.each([
  ['a text', 'a"\n\0\ud800'.repeat(50_000)],
  ['surrogate pairs at every place', `x${'😀'.repeat(60_000)}`],
  ['many pairs', '😀'.repeat(60_000)],
  [
    'a deep value',
    { role: 'tool', content: [{ a: { b: ['c'.repeat(70_000), null, undefined, 1.5, { d: undefined }] } }] },
  ],
  ['empty ones', { role: 'user', content: [{}, [], '', 'é'.repeat(70_000)] }],
  [
    'many small ones',
    { role: 'user', content: Array.from({ length: 20_000 }, (_, place) => ({ place, 'k"ey': true })) },
  ],
])('the chunks of a long value have the JSON of the value: %s', (_name, value) => {
  const chunks = [...chunksOf(value as LogValue)];
  expect(chunks.length).toBeGreaterThan(1);
  expect(chunks.map(({ chunk }) => jsonOfChunk(chunk)).join('') === JSON.stringify(value)).toBe(true);
  expect(Math.max(...chunks.map(({ size }) => size))).toBeLessThan(100_000);
});
