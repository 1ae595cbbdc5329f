import { Writable } from 'node:stream';
import { cutText } from '../../../clients/cli/terminal/cells.ts';
import { coloursOf } from '../../../clients/cli/terminal/colours.ts';
import { PlainStream, plainLine, plainText } from '../../../clients/cli/terminal/plain.ts';
import { drawRecord, drawTable, drawValue } from '../../../clients/cli/terminal/table.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

const terminal = Object.assign(new Writable(), { isTTY: true });
const plain = coloursOf(new Writable(), {});
const table = (rows: unknown[], width?: number, columns?: string[]) =>
  drawTable(rows, { width, colours: plain, ...(columns && { columns }) });

const ID = '019ab1f2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

describe('a table', () => {
  test('has a heading and a line for each row, numbers to the right, nothing behind the last cell', () => {
    const rows = [
      { name: 'Ada', messages: 7, status: 'active' },
      { name: 'Grace Hopper', messages: 1234, status: 'inactive' },
    ];
    expect(table(rows, 80, ['name', 'messages', 'status']).text).toBe(
      ['name          messages  status', 'Ada                  7  active', 'Grace Hopper      1234  inactive'].join(
        '\n',
      ),
    );
  });

  test('counts the cells of wide, combined and joined characters', () => {
    const rows = [
      { name: '漢字', word: 'x' },
      { name: 'e\u0301te\u0301', word: 'x' },
      { name: '👩‍👩‍👧‍👦', word: 'x' },
      { name: '🇩🇪🇫🇷', word: 'x' },
    ];
    expect(table(rows, 80, ['name', 'word']).text.split('\n')).toEqual([
      'name  word',
      '漢字  x',
      'e\u0301te\u0301   x',
      '👩‍👩‍👧‍👦    x',
      '🇩🇪🇫🇷  x',
    ]);
  });

  test('is cut to the width: the widest texts first, ids, numbers and times never', () => {
    const rows = [
      {
        publicId: ID,
        name: 'A name that is much too long for this line',
        count: 12345,
        at: '2026-11-22T23:34:35.123Z',
      },
    ];
    const { text, hidden } = table(rows, 80, ['publicId', 'name', 'count', 'at']);
    expect(text.split('\n')[1]).toBe(`${ID}  A name that is …  12345  2026-11-22 23:34Z`);
    expect(hidden).toEqual([]);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test('leaves out the last columns when the width is not enough, and says which; the first always stays', () => {
    const rows = [{ publicId: ID, name: 'Ada', createdAt: '2026-11-22T23:34:35.123Z' }];
    expect(table(rows, 50, ['publicId', 'name', 'createdAt'])).toEqual({
      text: `publicId${' '.repeat(30)}name\n${ID}  Ada`,
      hidden: ['createdAt'],
    });
    expect(table(rows, 10, ['publicId', 'name', 'createdAt']).hidden).toEqual(['name', 'createdAt']);
  });

  test('chooses id, name and state first, and no objects, when nobody names the columns', () => {
    const rows = [
      { createdBy: { name: 'x' }, description: 'd', status: 'active', note: null, name: 'Ada', publicId: ID, size: 3 },
    ];
    expect(table(rows).text.split('\n')[0]?.split(/ +/)).toEqual([
      'publicId',
      'name',
      'status',
      'note',
      'size',
      'description',
    ]);
  });

  test('shows nothing as a dash, objects by their name, lists of objects by their number, dotted columns by what they reach', () => {
    const rows = [{ a: null, b: { name: 'API Key' }, c: [{}, {}], d: ['x', 'y'], e: { f: { g: 1 } }, h: true, i: [] }];
    expect(
      table(rows, undefined, ['a', 'b', 'c', 'd', 'e.f.g', 'h', 'i', 'no.such']).text.split('\n')[1]?.split(/ {2,}/),
    ).toEqual(['–', 'API Key', '2 items', 'x, y', '', '1', 'true', '–', '–'].filter((cell) => cell !== ''));
  });

  test('an empty list has its heading, when the columns are known', () => {
    expect(table([], 80, ['publicId', 'name']).text).toBe('publicId  name');
  });

  test('a huge cell is measured at its beginning only', async () => {
    const rows = Array.from({ length: 200 }, () => ({ name: '漢'.repeat(200_000) }));
    const ms = await mainThreadMs(() =>
      expect(table(rows, 40, ['name']).text.split('\n')[1]).toBe(`${'漢'.repeat(19)}…`),
    );
    expect(ms).toBeLessThan(10_000);
  });

  test('a cell says nothing to the terminal and stays in its line', () => {
    const { text } = table([{ name: '\u001b[2J\u001b]0;owned\u0007', word: 'a\r\nb\tc\u202ed\u009b31m' }], 80, [
      'name',
      'word',
    ]);
    expect(text.split('\n')).toEqual(['name            word', '␛[2J␛]0;owned␇  a⏎b cd\ufffd31m']);
  });
});

test('one resource: a line for each field, objects and lists below their names, texts of several lines whole', () => {
  const value = {
    publicId: ID,
    prompt: 'First line.\r\nSecond line.',
    createdBy: { publicId: null, name: 'API Key' },
    features: [
      { key: 'memory', enabled: true },
      { key: 'webSearch', enabled: false },
    ],
    tags: [],
  };
  expect(drawRecord(value, { width: 80, colours: plain })).toBe(
    [
      `publicId   ${ID}`,
      'prompt',
      '  First line.',
      '  Second line.',
      'createdBy',
      '  publicId  –',
      '  name      API Key',
      'features',
      '  - key      memory',
      '    enabled  true',
      '  - key      webSearch',
      '    enabled  false',
      'tags       –',
    ].join('\n'),
  );
});

describe('a cut', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['漢字漢字', 4, '漢…'],
    ['漢字', 4, '漢字'],
    ['👩‍👩‍👧‍👦x👩‍👩‍👧‍👦', 4, '👩‍👩‍👧‍👦x…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ])('of %s to %d cells is %s', (text, width, expected) => expect(cutText(text, width)).toBe(expected));
});

describe('colours', () => {
  const red = '\u001b[31mx\u001b[39m';
  test.each([
    ['on a terminal', {}, true],
    ['with an empty NO_COLOR', { NO_COLOR: '' }, true],
    ['with NO_COLOR', { NO_COLOR: '1' }, false],
    ['with NO_COLOR=0', { NO_COLOR: '0' }, false],
    ['on a dumb terminal', { TERM: 'dumb' }, false],
  ])('%s', (_, env, coloured) => expect(coloursOf(terminal, env).bad('x')).toBe(coloured ? red : 'x'));
  test('not in a pipe', () => expect(plain.bad('x')).toBe('x'));

  test('mark states only, and do not count as width', () => {
    const colours = coloursOf(terminal, {});
    const { text } = drawTable(
      [
        { name: 'failed', status: 'FAILED', x: 1 },
        { name: 'b', status: 'active', x: 2 },
      ],
      {
        width: 80,
        colours,
        columns: ['name', 'status', 'x'],
      },
    );
    expect(text).toContain('failed  \u001b[31mFAILED\u001b[39m  1');
    expect(text).toContain('b       \u001b[32mactive\u001b[39m  2');
  });
});

describe('text from elsewhere', () => {
  test('keeps line breaks and tabs; what drives a terminal becomes a picture of itself', () => {
    expect(plainText('a\r\nb\n\tc\u001b[31mred\u0007\b\u007f\u009b1m\rover')).toBe('a\nb\n\tc␛[31mred␇␈␡\ufffd1m␍over');
    expect(plainLine('a\u2028b\u0085c')).toBe('a⏎b⏎c');
  });

  test('comes out the same however it is cut into pieces', () => {
    const text = 'a\r\nb\rc\r\r\n\u001b]52;c;eA==\u0007';
    for (let size = 1; size <= text.length; size += 1) {
      const stream = new PlainStream();
      let out = '';
      for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
      expect(out + stream.end()).toBe(plainText(text));
    }
    const last = new PlainStream();
    expect(last.push('a\r') + last.end()).toBe('a␍');
  });
});

describe('a value', () => {
  const shape = { width: 40, colours: plain };
  test('that is a page says which one it is, and what is not shown', () => {
    const items = [{ publicId: ID, name: 'Ada' }];
    expect(drawValue({ items, page: 2, limit: 1, total: 3, totalPages: 3 }, shape)).toBe(
      `publicId\n${ID}\nPage 2 of 3, 3 in all.\nNot shown for lack of width: name.`,
    );
    expect(drawValue({ items: [{ a: 1 }], page: 1, limit: 25, total: 1, totalPages: 1 }, shape)).toBe('a\n1');
  });
  test('that is an empty list says so', () => expect(drawValue([], shape)).toBe('Nothing.'));
  test('that is neither list nor object is itself', () => {
    expect(drawValue('a\u0007', shape)).toBe('a␇');
    expect(drawValue(3, shape)).toBe('3');
    expect(drawValue(null, shape)).toBe('–');
  });
  test('that is one resource has a line for each field', () =>
    expect(drawValue({ a: 1, b: 'x' }, shape)).toBe('a  1\nb  x'));
});
