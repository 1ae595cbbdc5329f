import { sentenceEnds } from '../../../runtime/replies/sentences.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

/** The text with a bar at each end of a sentence, except the last. */
function marked(text: string): string {
  const ends = [0, ...sentenceEnds(text)];
  return ends.map((start, place) => text.slice(start, ends[place + 1])).join('|');
}

test.each([
  'Once. |Two? |Three! |Four.',
  'Wrapped\nanywhere. |Even\r\nhere. |Yes.',
  '一。|二！|三？|四',
  'एक। |दो। |तीन।',
  'It is 3.15 p.m. now at a.example. |Next.',
  'Dr. Who and Mrs. X. Y. came. |Next.',
  'Am 3. Mai, z. B. um acht. |Dann (s. Anhang) nicht.',
  'It was in 1999. |Then came an oak. |Next.',
])('%j', (text) => {
  expect(marked(text.replaceAll('|', ''))).toBe(text);
});

describe('no sentence ends within', () => {
  test.each([
    ['inline code', 'Look. |`Once. Two` three. |Four.'],
    ['inline code over lines', 'Look. |`Once.\nTwo` three. |Four.'],
    ['code between two backticks', 'Look. |``Once. `Twice. Three`` four. |Five.'],
    ['two pieces of code, but between them', 'Look. |`Once. Two`. |And `three. Four`. |Five.'],
    ['the text or the address of a link', 'Look. |[Once. Two](https://a.example/x. Y) three. |Four.'],
    ['a link by reference', 'Look. |[Once. Two][ref] three. |Four.'],
    ['an address', 'Look. |Say https://a.example/x?Y!Z. |Four.'],
    ['an address without a scheme', 'Look. |Say www.a.example/x?Y!Z. |Four.'],
    ['an address in brackets', 'Look. |Say <mailto:a?Y!Z> three. |Four.'],
    ['bold text', 'Look. |**Once. Two** three. |Four.'],
    ['a link with code in it', 'Look. |[Once. `Two`. Three](x) four. |Five.'],
  ])('%s', (_what, text) => {
    expect(marked(text.replaceAll('|', ''))).toBe(text);
  });
});

test('an unclosed backtick opens no code', () => {
  expect(marked('Say ` once. Say `` twice. Say ``` thrice.')).toBe('Say ` once. |Say `` twice. |Say ``` thrice.');
});

test('an address ends where Chinese text follows directly', () => {
  expect(marked('请看https://a.example/x。下一句。')).toBe('请看https://a.example/x。|下一句。');
});

test('a text of opening marks only is read in linear time', async () => {
  const ms = await mainThreadMs(() => {
    for (const mark of ['[', '`a``b', '` ', '**once. B ', '[a](', '<a', 'http://']) sentenceEnds(mark.repeat(20_000));
  });
  expect(ms).toBeLessThan(5000);
});

test('brackets without an end are read once', async () => {
  const ms = await mainThreadMs(() => {
    for (const mark of ['[', '[](']) sentenceEnds(mark.repeat(50_000));
  });
  expect(ms).toBeLessThan(250);
});
