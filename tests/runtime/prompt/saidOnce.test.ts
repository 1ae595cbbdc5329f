import { type HistoryRow, MAX_HISTORY_MESSAGES } from '../../../db/queries/conversations/history.ts';
import { memoryCapability } from '../../../runtime/capabilities/memory.ts';
import type { ModelDescriptor } from '../../../runtime/models/catalogue.ts';
import { historyMessages } from '../../../runtime/prompt/messages.ts';

const fact = (id: string, text: string) => ({ id: `01890000-0000-7000-8000-0000000000${id}`, fact: text });

test('what is remembered is not said again while the history has the same list, and said when it changed', () => {
  const tea = [fact('01', 'Likes tea.')];
  const both = [fact('02', 'Is in a hurry.'), ...tea];
  const said = (memories: typeof tea, earlier: string[]) => memoryCapability.beside({ memories, earlier });
  const whole = said(tea, []);
  expect(whole).toContain('Likes tea.');
  const beside = (section: string) => `<turn_context>\nNow: Monday.\n\n${section}\n</turn_context>`;
  expect(said(tea, [beside(whole)])).toBe('');
  expect(said(tea, [beside(whole), beside('# Knowledge\n\nNothing.')])).toBe('');
  expect(said(both, [beside(whole)])).toContain('Is in a hurry.');
  // A list in between says something else.
  expect(said(tea, [beside(whole), beside(said(both, [beside(whole)]))])).toBe(whole);
});

test('a conversation of which not all is read begins in the middle of that, so that the next turns begin there too', async () => {
  const model = { provider: 'openai', contextWindow: 1_000_000 } as ModelDescriptor;
  const newest = { text: 'And now?', attachments: [], beside: '' };
  const rows = (count: number, first: number): HistoryRow[] =>
    Array.from({ length: count }, (_, place) => ({
      role: place % 2 === 0 ? 'user' : 'assistant',
      content: `Message ${first + place}.`,
      seq: first + place,
      author: null,
      attachments: [],
      turn_id: null,
      transcript: null,
    }));
  const beginsWith = async (read: HistoryRow[]) => {
    const { messages, shown } = await historyMessages(read, newest, { model, system: '', tools: [] });
    return [messages[0]?.content, shown.from, messages.length];
  };
  const half = MAX_HISTORY_MESSAGES / 2;
  expect(await beginsWith(rows(MAX_HISTORY_MESSAGES - 2, 1))).toEqual(['Message 1.', 0, MAX_HISTORY_MESSAGES - 2]);
  expect(await beginsWith(rows(MAX_HISTORY_MESSAGES, 101))).toEqual([`Message ${101 + half}.`, 101 + half, half]);
});
