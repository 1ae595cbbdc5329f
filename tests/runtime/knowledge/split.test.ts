import type { Block } from '../../../runtime/knowledge/extract/blocks.ts';
import type { Passage } from '../../../runtime/knowledge/passages.ts';
import { splitBlocks } from '../../../runtime/knowledge/split.ts';
import { estimateWords, piecesOf } from '../../../runtime/knowledge/splitText.ts';

const split = (blocks: Block[]): Promise<Passage[]> => Array.fromAsync(splitBlocks(blocks));
const paragraph = (text: string, page?: number): Block => ({ type: 'paragraph', text, ...(page ? { page } : {}) });
const heading = (level: number, text: string): Block => ({ type: 'heading', level, text });

/** A sentence of ten words that no other sentence is like. */
const sentence = (n: number) => `Sentence ${n} has words that make ten in all.`;
const sentences = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => sentence(from + i)).join(' ');

test('short paragraphs share a passage, in order, with the page of the first', async () => {
  expect(await split([paragraph('One.', 3), paragraph('Two.', 4)])).toEqual([
    { seq: 0, heading: null, page: 3, content: 'One.\n\nTwo.' },
  ]);
});

test('a heading ends a passage, however short, and its path goes with what stands below it', async () => {
  const passages = await split([
    paragraph('Before.'),
    heading(1, 'Shipping'),
    paragraph('On weekdays.'),
    heading(2, 'Abroad'),
    paragraph('By air.'),
    heading(2, 'At home'),
    paragraph('By bike.'),
    heading(1, 'Returns'),
    paragraph('Within 30 days.'),
  ]);
  expect(passages.map(({ heading: path, content }) => [path, content])).toEqual([
    [null, 'Before.'],
    ['Shipping', 'On weekdays.'],
    ['Shipping > Abroad', 'By air.'],
    ['Shipping > At home', 'By bike.'],
    ['Returns', 'Within 30 days.'],
  ]);
  expect(passages.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
});

test('a heading with nothing below it is a passage; one with sections below is not', async () => {
  const passages = await split([heading(1, 'Book'), heading(2, 'Empty'), heading(2, 'Full'), paragraph('Text.')]);
  expect(passages.map(({ heading: path, content }) => [path, content])).toEqual([
    ['Book > Empty', 'Empty'],
    ['Book > Full', 'Text.'],
  ]);
});

test('a long section is cut between sentences; nothing is lost, and nothing is larger than the limit', async () => {
  const passages = await split([paragraph(sentences(0, 400))]);
  expect(passages.length).toBeGreaterThan(10);
  for (const { content } of passages) {
    expect(estimateWords(content)).toBeLessThanOrEqual(300);
    expect(content.length).toBeLessThanOrEqual(2000);
    expect(content).toMatch(/^Sentence .*\.$/s);
  }
  for (const { content } of passages.slice(0, -1)) expect(estimateWords(content)).toBeGreaterThanOrEqual(200);
  const all = passages.map(({ content }) => content).join(' ');
  for (let n = 0; n < 400; n += 1) expect(all).toContain(sentence(n));
});

test('a passage begins with the last sentences of the one before it', async () => {
  const passages = await split([paragraph(sentences(0, 100))]);
  for (const [index, { content }] of passages.slice(1).entries()) {
    const before = passages[index]?.content ?? '';
    const first = /^[^.]*\./.exec(content)?.[0] ?? '';
    const overlap = before.slice(before.indexOf(first));
    expect(overlap.length).toBeGreaterThan(20);
    expect(estimateWords(overlap)).toBeLessThanOrEqual(40);
    expect(content.startsWith(overlap)).toBe(true);
  }
});

test('there is no overlap across a heading', async () => {
  const passages = await split([paragraph(sentences(0, 10)), heading(1, 'Next'), paragraph(sentences(50, 60))]);
  expect(passages[1]?.content).toBe(sentences(50, 60));
});

test('paragraphs are kept whole where they fit', async () => {
  const paragraphs = Array.from({ length: 9 }, (_, n) => sentences(n * 20, n * 20 + 14));
  const passages = await split(paragraphs.map((text) => paragraph(text)));
  for (const text of paragraphs) expect(passages.some(({ content }) => content.includes(text))).toBe(true);
});

test('rows stay whole, follow each other by line, and are not repeated', async () => {
  const rows = Array.from({ length: 200 }, (_, n) => `Name: Part ${n}; Price: ${n},50; Stock: ${n % 7}`);
  const passages = await split(rows.map((text): Block => ({ type: 'row', text })));
  expect(passages.length).toBeGreaterThan(3);
  expect(passages.flatMap(({ content }) => content.split('\n'))).toEqual(rows);
});

test('a sentence without end is cut between words, and a word without end between characters', async () => {
  const words = await split([paragraph('lorem ipsum '.repeat(2000))]);
  for (const { content } of words) expect(content).toMatch(/^(lorem|ipsum)( lorem| ipsum)*$/);
  const [long] = [await split([paragraph('😀'.repeat(10_000))])];
  expect(long.map(({ content }) => content).join('')).toBe('😀'.repeat(10_000));
  for (const { content } of long) expect(content.isWellFormed() && content.length <= 2000).toBe(true);
});

test('languages without spaces are cut between sentences and words', async () => {
  const japanese = await split([paragraph('返金は三十日以内に可能です。'.repeat(400))]);
  expect(japanese.length).toBeGreaterThan(5);
  for (const { content } of japanese) expect(content).toMatch(/^(返金は三十日以内に可能です。)+$/);
  const thai = await split([paragraph('คืนเงินได้ภายในสิบสี่วัน'.repeat(300))]);
  expect(thai.length).toBeGreaterThan(5);
  for (const { content } of thai) expect(content.length).toBeLessThanOrEqual(2000);
});

test('characters that cannot be stored are removed', async () => {
  const [passage] = await split([paragraph('a\u0000b\u0007c\ud800d\ufeff')]);
  expect(passage?.content).toBe('abc\ufffdd');
});

test('a long path of headings keeps its end', async () => {
  const headings = Array.from({ length: 6 }, (_, n) => heading(n + 1, `Level ${n} ${'x'.repeat(300)}`));
  const passage = (await split([...headings, paragraph('Text.')])).at(-1);
  expect(passage?.heading?.length).toBeLessThanOrEqual(500);
  expect(passage?.heading).toMatch(/> Level 5 x+…$/);
});

test('a heading that is too long for a path is text, too', async () => {
  const text = `${'long '.repeat(40)}end`;
  const passages = await split([heading(1, text), paragraph('Text.')]);
  expect(passages.map(({ content }) => content)).toEqual([`${text}\n\nText.`]);
});

test('each passage of a table begins with the names of its columns', async () => {
  const header = 'Part | Shelf | Town';
  const rows = Array.from({ length: 200 }, (_, n) => `Part ${n} | Shelf ${n} on the left | Graz`);
  const passages = await split([
    { type: 'row', text: header },
    ...rows.map((text): Block => ({ type: 'row', text, header })),
    paragraph('After the table.'),
  ]);
  const lines = passages.map(({ content }) => content.split('\n'));
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.map(([first]) => first)).toEqual(lines.map(() => header));
  expect(lines.flatMap(([, ...rest]) => rest)).toEqual([...rows, '', 'After the table.']);
});

test('places where a word may be divided are not in the text', async () => {
  const [passage] = await split([paragraph('The ware\u00adhouse and the ware\u2060house.')]);
  expect(passage?.content).toBe('The warehouse and the warehouse.');
});

test('an empty document has no passages', async () => {
  expect(await split([])).toEqual([]);
  expect(await split([paragraph(' \n '), { type: 'row', text: '' }])).toEqual([]);
});

test('pieces put together are the text again', () => {
  const text = `${'a bc def '.repeat(100)}${'x'.repeat(500)} end`;
  const pieces = [...piecesOf(text, { words: 30, chars: 100 })];
  expect(pieces.join('')).toBe(text);
  for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(100);
});
