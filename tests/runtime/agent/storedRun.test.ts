import type { PausedRunFormat1, PausedRunFormat2 } from '../../../db/stored/pausedRun.ts';
import type { PausedRun } from '../../../runtime/agent/paused.ts';
import { pausedRunOf, storedPausedRun } from '../../../runtime/agent/storedRun.ts';

const waiting = {
  kind: 'waiting',
  approvalId: 'a',
  input: { city: 'Oslo' },
  requestedAt: '2026-03-01T12:00:00.000Z',
} as const;
const done = { kind: 'done', output: { text: 'Sunny.', isError: false } } as const;
const messages = [
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'S' } } },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: { city: 'Oslo' } },
    ],
  },
] as const;
const common = { agentId: 'boss', task: '', writer: 'anthropic/claude-haiku-4-5, thinking', messages };

const run: PausedRun = {
  ...common,
  calls: [
    {
      toolCallId: 'c1',
      toolName: 'delegate_to_worker',
      origin: { kind: 'sub_agent', id: 'worker' },
      state: {
        kind: 'delegated',
        paused: {
          ...common,
          agentId: 'worker',
          task: 'Pay Oslo.',
          calls: [
            {
              toolCallId: 'c2',
              toolName: 'pay',
              origin: { kind: 'external_mcp', id: 'm', toolName: 'pay' },
              state: waiting,
            },
            {
              toolCallId: 'c3',
              toolName: 'look',
              origin: { kind: 'native_mcp', id: 'n', toolName: 'LOOK' },
              state: done,
            },
            {
              toolCallId: 'c4',
              toolName: 'send',
              origin: { kind: 'http_tool', id: 'h', operationId: 'send' },
              state: done,
            },
            { toolCallId: 'c5', toolName: 'gone', origin: null, state: done },
          ],
        },
      },
    },
  ],
};

test('a paused run is the same after it was stored, and its JSON has a format number', () => {
  const stored = storedPausedRun(run);
  expect(stored.format).toBe(3);
  expect(pausedRunOf(JSON.parse(JSON.stringify(stored)))).toEqual(run);
});

test('a run of format 2 is read as one of today', () => {
  const format2: PausedRunFormat2 = { format: 2, ...JSON.parse(storedPausedRun(run).json) };
  expect(pausedRunOf(JSON.parse(JSON.stringify(format2)))).toEqual(run);
});

test('a run that was stored before there were format numbers is read as one of today', () => {
  const format1: PausedRunFormat1 = {
    ...common,
    calls: [
      {
        toolCallId: 'c1',
        toolName: 'delegate_to_worker',
        origin: { kind: 'sub_agent', id: 'worker' },
        state: {
          kind: 'delegated',
          paused: {
            ...common,
            agentId: 'worker',
            task: 'Pay Oslo.',
            calls: [
              {
                toolCallId: 'c2',
                toolName: 'pay',
                origin: { kind: 'external_mcp', id: 'm', operation: 'pay' },
                state: waiting,
              },
              {
                toolCallId: 'c3',
                toolName: 'look',
                origin: { kind: 'native_mcp', id: 'n', operation: 'LOOK' },
                state: done,
              },
              {
                toolCallId: 'c4',
                toolName: 'send',
                origin: { kind: 'http_tool', id: 'h', operation: 'send' },
                state: done,
              },
              { toolCallId: 'c5', toolName: 'gone', origin: null, state: done },
            ],
          },
        },
      },
    ],
  };
  expect(pausedRunOf(JSON.parse(JSON.stringify(format1)))).toEqual(run);
});

test('a format of a later version is refused by its number', () => {
  const later = { ...storedPausedRun(run), format: 4 };
  expect(() => pausedRunOf(JSON.parse(JSON.stringify(later)))).toThrow('format 4');
});
