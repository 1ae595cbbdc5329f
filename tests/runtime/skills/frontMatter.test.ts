import { ApiError } from '../../../core/errors.ts';
import { readFrontMatter } from '../../../runtime/skills/frontMatter.ts';
import { skillMd } from '../../support/tools/skills.ts';

const BASE = 'name: a\ndescription: b\n';
const read = (fields: string) => readFrontMatter(skillMd(fields));

/** The error message for a refused SKILL.md. */
function refusalOf(text: string): string {
  try {
    readFrontMatter(text);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'INVALID_SKILL_ZIP') return error.message;
    throw error;
  }
  throw new Error('the front matter was accepted');
}

describe('accepted', () => {
  test('all fields of the specification', () => {
    const fields = `name: order-triage
description: >
  Sorts order problems
  and says who handles each.
license: MIT
compatibility: Requires Python 3.14+ and uv
metadata:
  author: example-org
  version: "1.0"
allowed-tools: Bash(git:*) Read
`;
    expect(read(fields)).toEqual({
      name: 'order-triage',
      description: 'Sorts order problems and says who handles each.',
      license: 'MIT',
      compatibility: 'Requires Python 3.14+ and uv',
      metadata: { author: 'example-org', version: '1.0' },
      allowedTools: 'Bash(git:*) Read',
    });
  });

  test('fields that are absent, empty or unknown', () => {
    const nothing = { license: null, compatibility: null, metadata: null, allowedTools: null };
    expect(read(BASE)).toEqual({ name: 'a', description: 'b', ...nothing });
    const empty = `${BASE}license:\ncompatibility: ""\nmetadata: ~\nallowed-tools: []\nversion: 3\nhooks: [{ a: b }]`;
    expect(read(empty)).toEqual({ name: 'a', description: 'b', ...nothing });
    expect(read(`${BASE}metadata: {}`).metadata).toEqual({});
  });

  test('allowed-tools as a list', () => {
    expect(read(`${BASE}allowed-tools:\n  - Bash(git:*)\n  - Read\n`).allowedTools).toBe('Bash(git:*) Read');
  });

  test('any name of 1 to 64 characters; values that YAML reads as another type stay text', () => {
    expect(read('name: Order Triage 日本\ndescription: b').name).toBe('Order Triage 日本');
    expect(read(`name: ${'😀'.repeat(64)}\ndescription: ${'é'.repeat(1024)}`).name).toBe('😀'.repeat(64));
    expect(read('name: 2026\ndescription: true\nlicense: 1.0')).toMatchObject({
      name: '2026',
      description: 'true',
      license: '1.0',
    });
  });

  test('Windows line ends, a byte order mark, and a later ---', () => {
    const text = `\uFEFF${skillMd('name: a\ndescription: b')}---\nmore\n`.replaceAll('\n', '\r\n');
    expect(readFrontMatter(text)).toMatchObject({ name: 'a', description: 'b' });
  });

  test('metadata keeps JSON values; dates, and numbers that JSON would write differently, stay text', () => {
    const metadata = `
  text: x
  number: 3
  fraction: 1.5
  yes: true
  nothing: ~
  date: 2026-11-21
  time: 2026-11-21T08:00:00Z
  version: 1.10
  hex: 0x1F
  large: 12345678901234567890
  infinite: .inf
  tagged: !!timestamp 2026-11-21
  list: [1, { a: b }]
  "": empty
  7: seven`;
    expect(read(`${BASE}metadata:${metadata}`).metadata).toEqual({
      text: 'x',
      number: 3,
      fraction: 1.5,
      yes: true,
      nothing: null,
      date: '2026-11-21',
      time: '2026-11-21T08:00:00Z',
      version: '1.10',
      hex: '0x1F',
      large: '12345678901234567890',
      infinite: '.inf',
      tagged: '2026-11-21',
      list: [1, { a: 'b' }],
      '': 'empty',
      7: 'seven',
    });
  });
});

describe('refused', () => {
  const laughs = Array.from({ length: 8 }, (_, n) => `  l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}]`).join('\n');
  const long = (count: number) => 'x'.repeat(count);
  test.each([
    ['no name', 'description: b', /has no name/],
    ['no description', 'name: a', /has no description/],
    ['nothing at all', '# only a comment', /must be fields/],
    ['an empty name', 'name: "  "\ndescription: b', /has no name/],
    ['an empty description', 'name: a\ndescription:', /has no description/],
    ['a name of 65 characters', `name: ${long(65)}\ndescription: b`, /name .* more than 64 characters/],
    ['a description of 1025 characters', `name: a\ndescription: ${long(1025)}`, /more than 1024 characters/],
    ['a compatibility of 501 characters', `${BASE}compatibility: ${long(501)}`, /more than 500 characters/],
    ['a license of 1025 characters', `${BASE}license: ${long(1025)}`, /more than 1024 characters/],
    ['allowed-tools of 4097 characters', `${BASE}allowed-tools: ${long(4097)}`, /more than 4096 characters/],
    ['a list of tools too long', `${BASE}allowed-tools: [${`${long(99)}, `.repeat(41)}]`, /more than 4096 characters/],
    ['a name that is a list', 'name: [a]\ndescription: b', /name .* must be text/],
    ['a license that is a map', `${BASE}license: { a: b }`, /license .* must be text/],
    ['tools that are maps', `${BASE}allowed-tools: [{ a: b }]`, /allowed-tools .* must be text/],
    ['metadata that is a list', `${BASE}metadata: [a]`, /metadata .* must be fields/],
    ['metadata that is text', `${BASE}metadata: a`, /metadata .* must be fields/],
    ['a list instead of fields', '- name: a', /must be fields/],
    ['text instead of fields', 'name', /must be fields/],
    ['a colon that is not quoted', 'name: a\ndescription: Use when: asked', /not valid YAML: .* \(line 3, column 14\)/],
    ['a field twice', `${BASE}name: c`, /not valid YAML: Map keys must be unique \(line 4, column 1\)/],
    ['a tab as indentation', `${BASE}metadata:\n\ta: b`, /not valid YAML: .* \(line 5/],
    ['a quote that does not end', 'name: "a\ndescription: b', /not valid YAML/],
    ['keys that are lists', `${BASE}? [a]\n: b`, /not valid YAML/],
    ['an alias', `${BASE}metadata: { a: &x 1, b: *x }`, /by \*alias/],
    ['aliases that multiply', `${BASE}metadata:\n  l0: &l0 [a]\n${laughs}`, /by \*alias/],
    ['an alias to itself', `${BASE}metadata: &x { a: *x }`, /by \*alias/],
    ['a name that is an alias', `license: &x y\nname: *x\ndescription: b`, /name .* must be text/],
    ['a merge of another map', `${BASE}base: &x { a: b }\nmetadata: { <<: *x }`, /by \*alias/],
    ['a field that changes prototypes', `${BASE}metadata: { __proto__: { admin: true } }`, /field "__proto__"/],
    ['NUL in the name', 'name: "a\\0"\ndescription: b', /characters that cannot be stored/],
    ['half a character', 'name: a\ndescription: "\\ud800"', /characters that cannot be stored/],
    ['NUL in metadata', `${BASE}metadata: { a: ["\\0"] }`, /characters that cannot be stored/],
    ['half a character in a key of metadata', `${BASE}metadata: { "\\udc00": 1 }`, /characters that cannot be stored/],
    ['deep metadata', `${BASE}metadata: ${'{ a: '.repeat(9)}1${' }'.repeat(9)}`, /nested more than 8 deep/],
    ['metadata that no stack holds', `${BASE}metadata: ${'['.repeat(7_000)}${']'.repeat(7_000)}`, /SKILL\.md/],
    ['more than 16 KiB', `${BASE}metadata: { a: ${long(16_384)} }`, /does not end .* within 16384 bytes/],
  ])('%s', (_what, fields, says) => {
    expect(refusalOf(skillMd(fields))).toMatch(says);
  });

  test.each([
    ['no front matter', '# Title'],
    ['a line before it', `\n${skillMd(BASE)}`],
    ['four hyphens', `-${skillMd(BASE)}`],
  ])('%s', (_what, text) => {
    expect(refusalOf(text)).toBe('SKILL.md has no front matter: its first line must be ---.');
  });

  test('a front matter without an end', () => {
    expect(refusalOf(`---\n${BASE}`)).toMatch(/does not end with a line of ---/);
  });
});
