import type { HistoryRow } from '../../../db/queries/conversations/history.ts';
import type { ModelDescriptor } from '../../../runtime/models/catalogue.ts';
import type { ModelMessage } from '../../../runtime/models/prompt.ts';
import { historyMessages } from '../../../runtime/prompt/messages.ts';
import type { ShownFrom } from '../../../runtime/prompt/shown.ts';
import { storedTranscript } from '../../../runtime/prompt/storedTranscript.ts';

const model = (contextWindow: number) => ({ provider: 'openai', contextWindow }) as ModelDescriptor;

/** A long conversation, turn by turn, in which each turn has a call with a result of this length. */
async function conversation(
  turns: number,
  {
    window,
    result = 10,
    text = 'word '.repeat(40),
  }: {
    window: number;
    result?: number;
    text?: string;
  },
) {
  const rows: HistoryRow[] = [];
  const shownIn: ShownFrom[] = [];
  const sent: string[][] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const newest = { text: `${turn} ${text}`, attachments: [], beside: `<turn_context>\n${turn}\n</turn_context>` };
    const { messages, shown } = await historyMessages(rows, newest, {
      model: model(window),
      system: 'Be kind.',
      tools: [{}],
    });
    sent.push(messages.map((message) => JSON.stringify(message)));
    shownIn.push(shown);
    const calls: ModelMessage[] = [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-call', toolCallId: `c${turn}`, toolName: 'look', input: { zone: 1, at: 2 } },
        ],
      },
      {
        role: 'tool',
        content: [{ toolCallId: `c${turn}`, toolName: 'look', text: 'r'.repeat(result), isError: false }],
      },
    ];
    const transcript = storedTranscript({ messages: calls, reply: 'Seen.', beside: newest.beside, shown });
    const of = { author: null, attachments: [], turn_id: `t${turn}` };
    rows.push(
      { ...of, role: 'user', content: newest.text, seq: 2 * turn + 1, transcript: null },
      { ...of, role: 'assistant', content: 'Let me look.\n\nSeen.', seq: 2 * turn + 2, transcript },
    );
  }
  /** The turns whose history does not begin with that of the turn before. */
  const changed = sent.flatMap((messages, turn) => {
    const before = sent[turn - 1] ?? [];
    return before.every((one, place) => one === messages[place]) ? [] : [turn];
  });
  return { sent, shownIn, changed };
}

test('a history that outgrows its window is cut in strides, and begins in the same place in between', async () => {
  const { sent, changed } = await conversation(60, { window: 3_000 });
  expect(changed.length).toBeGreaterThan(1);
  expect(changed.length).toBeLessThanOrEqual(12);
  expect(sent.at(-1)?.length).toBeGreaterThan(4);
});

test('long results stay whole until they are very many, and are then shortened together', async () => {
  const { sent, changed } = await conversation(20, { window: 200_000, result: 10_000 });
  expect(changed.length).toBeGreaterThan(1);
  expect(changed.length).toBeLessThanOrEqual(5);
  const last = sent.at(-1) ?? [];
  expect(last.filter((message) => message.includes('[cut off]')).length).toBeGreaterThan(2);
  expect(last.filter((message) => message.length > 10_000).length).toBeGreaterThan(0);
  expect(last.join('').length).toBeLessThan(200_000);
});

test('calls of very old messages are left out, and the text beside them stays in the reply', async () => {
  const { sent, shownIn, changed } = await conversation(60, { window: 200_000 });
  expect(changed.length).toBeLessThanOrEqual(6);
  const [, reply] = sent.at(-1) ?? [];
  expect(reply).toContain('Let me look.\\n\\nSeen.');
  expect(shownIn.at(-1)?.callsFrom).toBeGreaterThan(40);
});

test('with a larger window the history begins at the beginning again', async () => {
  const { shownIn } = await conversation(30, { window: 3_000 });
  const last = shownIn.at(-1);
  expect(last?.from).toBeGreaterThan(0);
  const seq = { author: null, attachments: [], turn_id: 't' };
  const transcript = storedTranscript({ messages: [], reply: null, beside: '', shown: last ?? null });
  const rows: HistoryRow[] = [
    { ...seq, role: 'user', content: 'Hi.', seq: 1, transcript: null },
    { ...seq, role: 'assistant', content: 'Hello.', seq: 1_000, transcript },
  ];
  const newest = { text: 'So?', attachments: [], beside: '' };
  const shown = async (window: number) =>
    (await historyMessages(rows, newest, { model: model(window), system: '', tools: [] })).messages.length;
  expect([await shown(3_000), await shown(100_000)]).toEqual([1, 2]);
});
