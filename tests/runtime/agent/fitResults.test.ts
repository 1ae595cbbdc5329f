import { fitBefore, fitResults, fitStep } from '../../../runtime/agent/fitResults.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';

/** A step with results of these lengths. */
const step = (...lengths: number[]): ModelMessage[] => [
  {
    role: 'assistant',
    content: lengths.map((_, i) => ({ type: 'tool-call', toolCallId: `c${i}`, toolName: 'look', input: {} })),
  },
  {
    role: 'tool',
    content: lengths.map((length, i) => ({
      toolCallId: `c${i}`,
      toolName: 'look',
      isError: false,
      text: 'x'.repeat(length),
    })),
  },
];
const lengths = (messages: readonly ModelMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.content.map(({ text }) => text.length) : []));
const said = (messages: readonly ModelMessage[]) => messages.map(({ content }) => String(content).slice(0, 2));

describe('results', () => {
  test('that leave room for the rest stay as they are', () => {
    const messages = [...step(7_000), ...step(7_000)];
    expect(fitResults(messages, 10_000)).toEqual(messages);
  });

  test('that do not are shortened, the oldest first and no more than needed', () => {
    const [oldest = 0, ...others] = lengths(fitResults([...step(9_000), ...step(5_000), ...step(5_000)], 10_000));
    expect(oldest).toBeLessThan(600);
    expect(others).toEqual([5_000, 5_000]);
  });

  test('of one step that are too long by themselves share the room', () => {
    const fitted = fitResults([...step(9_000), ...step(40_000, 10, ...Array<number>(30).fill(40_000))], 100_000);
    const [oldest = 0, ...newest] = lengths(fitted);
    expect(oldest).toBeLessThan(600);
    expect(newest[1]).toBe(10);
    expect(new Set(newest).size).toBe(2);
    expect(newest[0]).toBeGreaterThan(4_000);
    expect(newest.reduce((sum, length) => sum + length)).toBeLessThan(155_000);
  });
});

describe('what was said before', () => {
  const before: ModelMessage[] = [
    { role: 'user', content: `u1${'x'.repeat(9_998)}` },
    { role: 'assistant', content: 'a1' },
    { role: 'user', content: `u2${'x'.repeat(8_998)}` },
    ...step(1_000),
    { role: 'assistant', content: 'a2' },
    { role: 'user', content: 'u3' },
  ];
  const left = (contextWindow: number, beside = '') =>
    said(fitBefore(before, step(1_000), { contextWindow, beside })).filter((text) => text !== '[o');

  test('stays when there is room for what the turn came to', () => {
    expect(left(10_000)).toEqual(['u1', 'a1', 'u2', 'a2', 'u3']);
  });

  test('goes turn by turn, the oldest first, calls and results with it', () => {
    expect(left(9_000)).toEqual(['u2', 'a2', 'u3']);
    expect(left(9_900, 'x'.repeat(4_000))).toEqual(['u2', 'a2', 'u3']);
    expect(said(fitBefore(before, step(1_000), { contextWindow: 4_000, beside: '' }))).toEqual(['u3']);
  });

  test('never loses the message that is answered', () => {
    expect(left(10)).toEqual(['u3']);
  });
});

test('when something is left out, the next steps of the turn leave out the same, and begin in the same way', () => {
  const turn = (n: number): ModelMessage[] => [
    { role: 'user', content: `u${n}${'x'.repeat(1_000)}` },
    { role: 'assistant', content: `a${n}` },
  ];
  const before = [...Array.from({ length: 10 }, (_, n) => turn(n)).flat(), { role: 'user' as const, content: 'now' }];
  const toolset = { definitions: [], byName: () => undefined, byOrigin: () => undefined };
  const run = { before, system: '', toolset, model: { contextWindow: 10_000 } };
  const own: ModelMessage[] = [];
  const requests = Array.from({ length: 12 }, () => {
    own.push(...step(2_000));
    return fitStep(run, own);
  });
  const changes = requests.slice(1).filter((request, place) => {
    const earlier = requests[place] ?? [];
    return JSON.stringify(request.slice(0, earlier.length)) !== JSON.stringify(earlier);
  });
  // Without strides each step from the eighth on begins in another way.
  expect(changes.length).toBeLessThanOrEqual(4);
  expect(requests.at(-1)?.length).toBeLessThan(before.length + own.length);
});
