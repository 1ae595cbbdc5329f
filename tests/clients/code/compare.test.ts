import { differencesOf } from '../../../clients/code/compare/differences.ts';
import { lineDifferences } from '../../../clients/code/compare/lines.ts';
import type { JsonObject } from '../../../clients/code/json.ts';
import type { Entry } from '../../../clients/code/kind.ts';

const entry = (fields: JsonObject, files: Entry['files'] = {}): Entry => ({ kind: 'agent', name: 'A', fields, files });
const differences = (before: JsonObject, after: JsonObject) => differencesOf(entry(before), entry(after));

test('fields are compared one by one, and their order does not count', () => {
  expect(differences({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 })).toEqual([]);
  expect(differences({ a: 1, b: { c: 1 }, x: true }, { a: 2, b: { c: 2 }, y: [] })).toEqual([
    { field: 'a', before: 1, after: 2 },
    { field: 'b.c', before: 1, after: 2 },
    { field: 'y', after: [] },
    { field: 'x', before: true },
  ]);
});

test('items with names are told apart by them; their order counts', () => {
  const [one, two, three] = [{ name: 'one', x: 1 }, { name: 'two' }, { name: 'three' }];
  expect(differences({ list: [one, two] }, { list: [{ ...one, x: 2 }, three] })).toEqual([
    { field: 'list[one].x', before: 1, after: 2 },
    { field: 'list[three]', after: three },
    { field: 'list[two]', before: two },
  ]);
  expect(differences({ list: [one, two] }, { list: [two, one] })).toEqual([
    { field: 'list (order)', before: ['one', 'two'], after: ['two', 'one'] },
  ]);
  expect(differences({ list: [1, 2] }, { list: [2, 1] })).toEqual([{ field: 'list', before: [1, 2], after: [2, 1] }]);
});

test('a list that goes, and one that was not there', () => {
  expect(differences({ tags: ['a'] }, {})).toEqual([{ field: 'tags[a]', before: 'a' }]);
  expect(differences({}, { tags: ['a'] })).toEqual([{ field: 'tags[a]', after: 'a' }]);
});

test('contents are compared by digest, and one that is not known equals every other', () => {
  const files = (sha256: string | undefined) => ({ 'a.md': { sha256 } });
  expect(differencesOf(entry({}, files('1')), entry({}, files('1')))).toEqual([]);
  expect(differencesOf(entry({}, files(undefined)), entry({}, files('1')))).toEqual([]);
  expect(differencesOf(entry({}, files('1')), entry({}, files('2')))).toEqual([
    { field: 'a.md', isContent: true, before: '1', after: '2' },
  ]);
  expect(differencesOf(entry({}), entry({}, files('2')))).toEqual([{ field: 'a.md', isContent: true, after: '2' }]);
});

describe('texts line by line', () => {
  const shown = (before: string, after: string) =>
    lineDifferences(before, after).map((line) => (line.sign === 'gap' ? `…${line.count}` : `${line.sign}${line.text}`));

  test('a changed line, with what is around it', () => {
    const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`);
    expect(shown(lines.join('\n'), lines.with(4, 'other').join('\n'))).toEqual([
      '…2',
      ' line 2',
      ' line 3',
      '-line 4',
      '+other',
      ' line 5',
      ' line 6',
      '…2',
    ]);
  });

  test('lines that moved apart, were added at the ends, or went', () => {
    expect(shown('a\nb\nc', 'x\na\nc\ny')).toEqual(['+x', ' a', '-b', ' c', '+y']);
    expect(shown('a', 'b')).toEqual(['-a', '+b']);
    expect(shown('a\na\na', 'a\na')).toEqual([' a', ' a', '-a']);
  });

  test('two long texts without a common line are compared at once', () => {
    const text = (word: string) => Array.from({ length: 50_000 }, (_, index) => `${word} ${index}`).join('\n');
    expect(shown(text('a'), text('b'))).toHaveLength(100_000);
  });
});
