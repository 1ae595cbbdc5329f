import { readApiDocument } from '../../../../runtime/tools/openapi/documentText.ts';

const read = (text: string) => readApiDocument(Buffer.from(text));
const valueFrom = async (text: string | Uint8Array) => {
  const made = await readApiDocument(typeof text === 'string' ? Buffer.from(text) : text);
  if (!('value' in made)) throw new Error(made.problem);
  return made.value;
};

describe('YAML that documents are full of', () => {
  test.each([
    ['a closing bracket below its key', 'a:\n  b: [\n    c\n  ]\n  d: 1', { a: { b: ['c'], d: 1 } }],
    ['in a list', 'a:\n  - b: {\n      c: 1\n    }\n  - d', { a: [{ b: { c: 1 } }, 'd'] }],
    [
      'with quotes, comments and brackets in texts',
      'a:\n  b: {"c": "]}", # {\n    "d": [\'[\', {"e": 1}]\n  }\n  f: |\n    {\n  g: x [\n',
      { a: { b: { c: ']}', d: ['[', { e: 1 }] }, f: '{\n', g: 'x [' } },
    ],
    ['with lines of Windows', 'a:\r\n  b: [\r\n    c\r\n  ]\r\n', { a: { b: ['c'] } }],
    [
      'with anchors and merge keys',
      'a:\n  b: &b {\n    c: 1\n  }\n  d: {<<: *b, e: 2}',
      { a: { b: { c: 1 }, d: { c: 1, e: 2 } } },
    ],
    ['a tab before a bracket', 'a:\t{b: "\t"}\n', { a: { b: '\t' } }],
    ['YAML in braces', '{a: 1, "b": [c],}', { a: 1, b: ['c'] }],
  ])('%s', async (_what, text, value) => {
    expect(await valueFrom(text)).toEqual(value);
  });

  test.each([
    ['booleans of YAML 1.1', 'a: [no, on, yes, off, y, True]', ['no', 'on', 'yes', 'off', 'y', true]],
    ['numbers', 'a: [010, 0o10, 0x1F, 1_000, 0b11, 1e3, 12:30:45]', [10, 8, 31, '1_000', '0b11', 1000, '12:30:45']],
    ['dates', 'a: [2024-01-01, 2024-01-01T00:00:00Z]', ['2024-01-01', '2024-01-01T00:00:00Z']],
  ])('are those of YAML 1.2: %s', async (_what, text, a) => {
    expect(await valueFrom(text)).toEqual({ a });
  });
});

test.each([
  ['utf16le', '\uFEFFa: é'],
  ['utf16le', 'a: é'],
  ['utf16le', '{"a":"é"}'],
])('%s is read in both orders of bytes: %j', async (encoding, text) => {
  const bytes = Buffer.from(text, encoding as BufferEncoding);
  expect(await valueFrom(bytes)).toEqual({ a: 'é' });
  expect(await valueFrom(Buffer.from(bytes).swap16())).toEqual({ a: 'é' });
});

describe('what is wrong is told with its line', () => {
  test.each([
    ['several documents', 'a: 1\n---\nb: 2', 'expected a single document in the stream, but found more'],
    ['a tag', 'a: 1\nb: !Ref x', 'line 2: unknown scalar tag !<!Ref>'],
    ['an alias', 'a: *x', 'line 1: unidentified alias "x"'],
    ['tabs', 'a:\n\tb: 1', 'line 2: tab characters must not be used in indentation'],
    ['a bracket that never ends', 'a:\n  b: [\n    c\n  d: 1', 'line 4: deficient indentation'],
    ['a text in quotes', 'a:\n  b: "c\n  d"', 'line 3: deficient indentation'],
  ])('%s', async (_what, text, reason) => {
    expect(await read(text)).toEqual({ problem: `must be the address of a JSON or YAML document: ${reason}` });
  });

  test.each([
    ['', 300],
    ['a:\n  b: [\n    c\n  ]\nd: ', 300],
    ['', 100_000],
  ])('levels after %j: %d', async (before, levels) => {
    const text = `${before}${before && '['}x: ${'['.repeat(levels)}`;
    expect(await read(text)).toEqual({ problem: 'must not nest that deeply' });
  });
});

test('lines of brackets that would be moved by very much are not moved', async () => {
  const text = `a:\n  ? ${' '.repeat(20_000)}[\n${'\n'.repeat(2_000)}  ]\n  : 1`;
  expect(await read(text)).toMatchObject({ problem: expect.stringContaining('deficient indentation') });
});
