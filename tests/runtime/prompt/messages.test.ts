import type { HistoryRow } from '../../../db/queries/conversations/history.ts';
import type { StoredMessage } from '../../../db/stored/modelMessage.ts';
import type { ModelDescriptor } from '../../../runtime/models/catalogue.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';
import { historyMessages } from '../../../runtime/prompt/messages.ts';
import { transcriptOf } from '../../../runtime/prompt/transcript.ts';

/** A step with `count` calls of `look`, each with this input and this result. */
const step = (count: number, { input = {}, result = 'Seen.' }: { input?: object; result?: string } = {}) => {
  const ids = Array.from({ length: count }, (_, i) => ({ toolCallId: `c${i}`, toolName: 'look' }));
  return [
    { role: 'assistant', content: ids.map((id) => ({ type: 'tool-call', ...id, input })) },
    { role: 'tool', content: ids.map((id) => ({ ...id, text: result, isError: false })) },
  ] as StoredMessage[];
};
const long = 'x'.repeat(40_000);

describe('the calls of a turn, as later turns see them', () => {
  test('are bounded in total, however many there were', () => {
    const { messages: transcript } = transcriptOf(Array.from({ length: 24 }, () => step(32, { result: long })).flat());
    expect(JSON.stringify(transcript).length).toBeLessThan(65_000);
    expect(transcript.length).toBeGreaterThan(0);
  });

  test('are those of the last steps, each with its result', () => {
    const steps = Array.from({ length: 10 }, (_, i) => step(1, { input: { i, filler: 'x'.repeat(10_000) } }));
    const { messages: transcript } = transcriptOf(steps.flat());
    expect(transcript).toEqual(steps.slice(-transcript.length / 2).flat());
    expect(transcript.length).toBeGreaterThanOrEqual(8);
    expect(transcript.length).toBeLessThan(20);
  });

  test('are left out when the last step alone is too long', () => {
    expect(transcriptOf(step(1, { input: { long: long + long } })).messages).toEqual([]);
    expect(transcriptOf([]).messages).toEqual([]);
  });
});

test('calls that would fill much of the window have shorter results, or are left out when that is not enough', async () => {
  let seq = 0;
  const row = (role: HistoryRow['role'], content: string, transcript: HistoryRow['transcript'] = null) => ({
    role,
    content,
    transcript,
    author: null,
    attachments: [],
    turn_id: null,
    seq: seq++,
  });
  const shownOf = async (rows: HistoryRow[], contextWindow = 4_000) => {
    const model = { provider: 'openai-compatible', contextWindow } as ModelDescriptor;
    const newest = { text: 'And?', attachments: [], beside: '' };
    return (await historyMessages(rows, newest, { model, system: 'Be brief.', tools: [{}] })).messages;
  };
  const shown = (result: string, input = {}) =>
    shownOf([
      row('user', 'First.'),
      row('assistant', 'Answer.', step(1, { input, result })),
      row('user', 'Second.'),
      row('assistant', 'Short.', step(1)),
    ]);
  const said = (messages: ModelMessage[]) => messages.map(({ role, content }) => (role === 'tool' ? role : content));
  const withCalls = ['First.', {}, 'tool', 'Answer.', 'Second.', {}, 'tool', 'Short.'];
  expect(said(await shown('x'.repeat(2_000)))).toMatchObject(withCalls);
  expect(said(await shown('x'.repeat(4_000)))).toMatchObject(withCalls);
  const without = ['First.', 'Answer.', 'Second.', {}, 'tool', 'Short.'];
  expect(said(await shown('Seen.', { long: 'x'.repeat(4_000) }))).toMatchObject(without);
  // The newest turn may be whole. When that is too long for the window, it is still there.
  const newest = await shownOf([row('user', 'Look.'), row('assistant', 'Done.', step(4, { result: long }))], 24_576);
  expect(said(newest)).toMatchObject(['Look.', {}, 'tool', 'Done.']);
  const results = newest.flatMap(({ role, content }) =>
    role === 'tool' ? content.map(({ text }) => text.length) : [],
  );
  expect(results).toHaveLength(4);
  expect(Math.min(...results)).toBeGreaterThanOrEqual(4_000);
});
