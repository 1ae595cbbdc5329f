import { speakable } from '../../../runtime/audio/speakable.ts';

test.each<[string, string, string]>([
  ['plain text', 'It is 3 o’clock.\nBye!', 'It is 3 o’clock.\nBye!'],
  [
    'headings and emphasis',
    '## Result\n\nIt is **very _good_**, *really*, ~~no~~ yes.',
    'Result\n\nIt is very good, really, no yes.',
  ],
  ['emphasis without spaces around it', '这是**重要**的。', '这是重要的。'],
  ['names and sums with underscores and asterisks', 'Set my_var_name to 2*3*4.', 'Set my_var_name to 2*3*4.'],
  ['lists', '- one\n* two\n  + three\n- [x] done\n1. first', 'one\ntwo\nthree\ndone\n1. first'],
  ['quotations', '> > He said\n> so.', 'He said\nso.'],
  [
    'links and pictures',
    'See [the docs](https://a.example/x_(y) "Title"), ![a cat](cat.png) and [this][1].\n\n[1]: https://b.example',
    'See the docs, a cat and this.',
  ],
  ['a link with a title', 'See [the docs](https://a.example/x "Title").', 'See the docs.'],
  ['addresses', 'Go to https://a.example/b?c=d, or <https://e.example>. (www.f.example)', 'Go to , or .'],
  ['a block of code', 'Run:\n```sh\nrm -rf /\n```\nDone.', 'Run:\n\nDone.'],
  ['a block of code that is not closed', 'Run:\n~~~\nrm -rf /', 'Run:'],
  ['code in a line', 'Call `go()` now.', 'Call go() now.'],
  ['tables', '| City | Sun |\n|:--|--:|\n| Rome | 9 h |', 'City, Sun\n\nRome, 9 h'],
  ['rules', 'a\n\n---\n\n* * *\n\nb', 'a\n\nb'],
  ['HTML', 'a<br>b <!-- note --> <b>c</b> 1 < 2 > 0', 'a\nb c 1 < 2 > 0'],
  ['blocks of HTML', 'a\n\n<div>\nb\n</div>', 'a\n\nb'],
  ['code in a list', '1. one\n   ```\n   x\n   ```\n2. two', '1. one\n\n2. two'],
  ['characters by name', 'R&amp;D &gt; 0', 'R&D > 0'],
  ['escapes', '1\\. a\\*b', '1. a*b'],
  ['nothing but code', '```\nx\n```', ''],
  ['nothing but marks', '---\n\n*** …', ''],
])('%s', (_title, reply, said) => {
  expect(speakable(reply)).toBe(said);
});

describe('the maximum that a provider accepts', () => {
  test('is used up to the end of a sentence', () => {
    const sentence = 'This is a sentence of some length. ';
    const said = speakable(sentence.repeat(200));
    expect(said.length).toBeLessThanOrEqual(4_096);
    expect(said.length).toBeGreaterThan(4_096 - sentence.length - 1);
    expect(said.endsWith('length.')).toBe(true);
  });

  test('is counted in bytes too, where every letter is a token', () => {
    const said = speakable('今日は天気がいいですね。'.repeat(400));
    expect(Buffer.byteLength(said)).toBeLessThanOrEqual(6_000);
    expect(said.endsWith('。')).toBe(true);
  });

  test('no character is cut in half', () => {
    const said = speakable(`a${'😀'.repeat(4_000)}`);
    expect(said.isWellFormed()).toBe(true);
    expect(said.length).toBeGreaterThan(1_000);
  });
});

test('time is bounded for any text', () => {
  const worst = [
    '`',
    '~',
    '*',
    '_',
    '-',
    '|',
    '[',
    '](',
    '<',
    '<a',
    '<!--',
    '>',
    ' ',
    '\n',
    '(',
    '\\',
    'www.',
    'http://.',
    '| ',
    '- ',
    ' |',
    '[a](b ',
    '*a ',
    '\t \n',
  ];
  const before = process.cpuUsage();
  for (const piece of worst) speakable(`${piece.repeat(20_000 / piece.length)}x`);
  for (const piece of worst) speakable(`x${piece.repeat(20_000 / piece.length)}`);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000);
});
