import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { TokenCounter } from '../../../runtime/models/tokens.ts';
import {
  estimateAttachmentTokens,
  fitHistory,
  type HistoryInput,
  type HistoryMessage,
} from '../../../runtime/prompt/history.ts';

const PROSE = 'The committee met on Tuesday to discuss the budget, and adjourned after two hours. ';

type Stored = HistoryMessage & { id: number };

/** Turns of one question and one reply, each of `words` words. */
function conversation(turns: number, text = PROSE): Stored[] {
  return Array.from({ length: turns * 2 }, (_, id) => ({
    id,
    role: id % 2 === 0 ? 'user' : 'assistant',
    content: `${id} ${text}`,
  }));
}

const never: TokenCounter = async () => {
  throw new Error('nothing was to be counted');
};

const input = (more: Partial<HistoryInput<Stored>>): HistoryInput<Stored> => ({
  contextWindow: 10_000,
  reserveForReply: 1_000,
  systemText: 'Be kind.',
  turns: [],
  newest: { content: 'What now?' },
  tokenizer: 'o200k',
  ...more,
});

const ids = (messages: Stored[]) => messages.map(({ id }) => id);

describe('without counting', () => {
  test('all messages stay, in order and unchanged, when their size in bytes proves that they fit', async () => {
    const turns = conversation(40);
    const fitted = await fitHistory(input({ turns, count: never }));
    expect(fitted).toEqual({ messages: turns, dropped: 0 });
    expect(fitted.messages[0]).toBe(turns[0]);
  });

  test('an unknown context window drops nothing', async () => {
    const turns = conversation(2_000);
    expect(await fitHistory(input({ turns, contextWindow: null, count: never }))).toEqual({
      messages: turns,
      dropped: 0,
    });
  });

  test('the bound is in bytes, not in characters', async () => {
    const turns = [{ id: 0, role: 'user' as const, content: '漢'.repeat(3_100) }];
    await expect(fitHistory(input({ turns, count: never }))).rejects.toThrow('nothing was to be counted');
  });

  test('without room after the reserve there is no history and no counting', async () => {
    const fitted = await fitHistory(input({ turns: conversation(2), reserveForReply: 10_000, count: never }));
    expect(fitted).toEqual({ messages: [], dropped: 4 });
  });
});

describe('with counting', () => {
  test('as many of the newest whole turns stay as fit', async () => {
    const turns = conversation(1_000);
    const { messages, dropped } = await fitHistory(input({ turns }));
    expect(messages.length).toBeGreaterThan(100);
    expect(messages).toEqual(turns.slice(dropped));
    expect(messages[0]?.role).toBe('user');
    const exact = (list: Stored[]) => list.reduce((sum, { content }) => sum + encode(content).length + 6, 0);
    const around = encode('Be kind.').length + encode('What now?').length + 12;
    expect(exact(messages) + around).toBeLessThanOrEqual(9_000);
    expect(exact(turns.slice(dropped - 2)) + around).toBeGreaterThan(9_000);
  });

  test('text with few tokens per byte stays although its size in bytes would not fit', async () => {
    const turns = conversation(60);
    expect(turns.reduce((sum, { content }) => sum + content.length, 0)).toBeGreaterThan(9_000);
    expect(await fitHistory(input({ turns }))).toEqual({ messages: turns, dropped: 0 });
  });

  test('turns are counted from the newest back, until the window is full or the rest surely fits', async () => {
    const seen: string[] = [];
    const count: TokenCounter = async (text) => {
      seen.push(text);
      return Math.ceil(text.length / 4);
    };
    const turns = conversation(1_000);
    await fitHistory(input({ turns, count }));
    expect(seen[0]).toBe('Be kind.');
    expect(seen.length).toBeLessThan(400);
    expect(seen.some((text) => text.startsWith('1 '))).toBe(false);

    seen.length = 0;
    // One long message after ten that surely fit: only as much is counted as is needed to be sure.
    const long = [...conversation(5), { id: 10, role: 'user' as const, content: 'a '.repeat(5_000) }];
    expect((await fitHistory(input({ turns: long, count }))).dropped).toBe(0);
    expect(seen).toHaveLength(3);
  });

  test('a model with another tokenizer gets a margin', async () => {
    const turns = conversation(1_000);
    const own = await fitHistory(input({ turns }));
    const other = await fitHistory(input({ turns, tokenizer: 'other' }));
    const ratio = own.messages.length / other.messages.length;
    expect(ratio).toBeGreaterThan(1.2);
    expect(ratio).toBeLessThan(1.36);
  });

  test('a turn is kept or dropped whole, with all its replies', async () => {
    const text = 'word '.repeat(1_000);
    const roles = ['assistant', 'user', 'assistant', 'assistant', 'user', 'assistant', 'assistant'] as const;
    const turns = roles.map((role, id) => ({ id, role, content: `${id} ${text}` }));
    expect(ids((await fitHistory(input({ turns }))).messages)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(ids((await fitHistory(input({ turns, contextWindow: 8_000 }))).messages)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ids((await fitHistory(input({ turns, contextWindow: 6_500 }))).messages)).toEqual([4, 5, 6]);
    expect(ids((await fitHistory(input({ turns, contextWindow: 3_500 }))).messages)).toEqual([]);
  });

  test('no history is left when the newest message or the system prompt alone is too long', async () => {
    const content = 'word '.repeat(20_000);
    expect(await fitHistory(input({ turns: conversation(3), newest: { content } }))).toEqual({
      messages: [],
      dropped: 6,
    });
    expect(await fitHistory(input({ turns: conversation(3), systemText: content }))).toEqual({
      messages: [],
      dropped: 6,
    });
  });

  test('attachments of the newest message reduce the room for the history', async () => {
    const turns = conversation(1_000);
    const image = { kind: 'image' as const, mediaType: 'image/png', sizeBytes: 5_000, bytes: new Uint8Array(5_000) };
    const plain = await fitHistory(input({ turns }));
    const withImages = await fitHistory(
      input({ turns, newest: { content: 'What now?', attachments: [image, image] } }),
    );
    const perMessage = encode(turns[1_500]?.content ?? '').length + 6;
    const gone = plain.messages.length - withImages.messages.length;
    expect(Math.abs(gone * perMessage - 3_200)).toBeLessThan(3 * perMessage);
  });
});

describe('a conversation of 10,000 messages', () => {
  const turns = conversation(5_000, PROSE.repeat(4));

  test('is fitted into a window of 128,000 tokens, the second time with cached counts', async () => {
    const at = (text: string) => input({ turns, contextWindow: 128_000, newest: { content: text } });
    const first = await fitHistory(at('one'));
    expect(first.messages.length).toBeGreaterThan(1_000);
    expect(first.messages.length + first.dropped).toBe(10_000);
    expect(await fitHistory(at('two'))).toEqual(first);
  });

  test('does not block other work while it counts', async () => {
    let ticks = 0;
    let done = false;
    const tick = () => {
      ticks += 1;
      if (!done) setImmediate(tick);
    };
    setImmediate(tick);
    // Not cached, and so long that counting it in one go would block for a second.
    await fitHistory(
      input({
        newest: { content: `unseen ${PROSE.repeat(6_000)}` },
        contextWindow: 1_000_000,
        turns: conversation(2_000, PROSE.repeat(4)),
      }),
    );
    await fitHistory(input({ newest: { content: `unseen ${PROSE.repeat(6_000)}` }, contextWindow: 200_000, turns }));
    done = true;
    expect(ticks).toBeGreaterThan(5);
  });
});

describe('estimateAttachmentTokens', () => {
  const pdf = (text: string, sizeBytes = text.length) => ({
    kind: 'document' as const,
    mediaType: 'application/pdf',
    sizeBytes,
    bytes: Buffer.from(text),
  });

  test('counts the pages of a PDF, and estimates them when they cannot be counted', () => {
    const page = '<< /Type /Page >>';
    expect(estimateAttachmentTokens(pdf(`<< /Type /Pages >> ${page} ${page} << /Type/Page/Parent 1 0 R >>`))).toBe(
      7_500,
    );
    expect(estimateAttachmentTokens(pdf('<< /Type /Pages >>', 1))).toBe(2_500);
    expect(estimateAttachmentTokens(pdf('', 10_000_000))).toBe(500_000);
  });

  test('estimates a text at a third of its bytes, and a picture at a fixed number of tokens', () => {
    const bytes = new Uint8Array(0);
    expect(estimateAttachmentTokens({ kind: 'document', mediaType: 'text/csv', sizeBytes: 3_000, bytes })).toBe(1_024);
    expect(estimateAttachmentTokens({ kind: 'image', mediaType: 'image/gif', sizeBytes: 9, bytes })).toBe(1_600);
  });
});
