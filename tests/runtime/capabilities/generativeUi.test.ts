import { documentSchema } from '../../../core/namedSchemas.ts';
import { makeToolset, runTool } from '../../../runtime/agent/toolset.ts';
import { generativeUiCapability } from '../../../runtime/capabilities/generativeUi.ts';
import { catalogueText } from '../../../runtime/generativeUi/catalogue.ts';
import { COMPONENT_TYPES, componentSchema, PURPOSES } from '../../../runtime/generativeUi/schema.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { callTool, newScope, toolsFrom } from '../../support/turns/agentScope.ts';
import { VALID } from './uiSamples.ts';

let app: TestApp;
let scope: Awaited<ReturnType<typeof newScope>>;
beforeAll(async () => {
  app = await startTestApp();
  scope = await newScope(app, { snapshot: { genuiEnabled: true } });
});
afterAll(() => app.close());

type Shown = Record<string, unknown>;

/** The output of `show_ui`, and the tree that it showed. */
async function show(ui: unknown): Promise<{ text: string; isError: boolean; shown: Shown[] }> {
  const shown: Shown[] = [];
  const output = await callTool(
    toolsFrom(generativeUiCapability, scope),
    'show_ui',
    { ui },
    { showUi: (tree) => void shown.push(tree) },
  );
  return { ...output, shown };
}

/** The problems of a tree that was not shown. */
async function problemsOf(ui: unknown): Promise<string[]> {
  const { text, isError, shown } = await show(ui);
  expect([isError, shown]).toEqual([true, []]);
  const [heading, ...problems] = text.split('\n- ');
  expect(heading).toBe('Nothing is shown, because of mistakes in ui:');
  return problems;
}

const text = (value: string) => ({ type: 'text', text: value });
const stack = (...children: unknown[]) => ({ type: 'stack', children });
const nested = (depth: number): unknown => (depth === 1 ? { type: 'divider' } : stack(nested(depth - 1)));

describe('shown', () => {
  test.each(VALID)('%s', async (_what, ui) => {
    expect(await show(ui)).toEqual({
      isError: false,
      text: 'Shown with your reply. Do not repeat in the text what it shows.',
      shown: [ui],
    });
  });

  test('there is a sample of each component', () => {
    expect(new Set(VALID.map(([, { type }]) => type))).toEqual(new Set(COMPONENT_TYPES));
  });

  test('as a copy without characters that cannot be stored', async () => {
    const sent = stack(text('a\0b\ud800'));
    const { shown } = await show(sent);
    expect(shown).toEqual([stack(text('ab\ufffd'))]);
    expect(shown[0]).not.toBe(sent);
  });

  test('every sample also passes the check of inputs in a turn', async () => {
    const entry = makeToolset(toolsFrom(generativeUiCapability, scope)).byName('show_ui');
    if (!entry) throw new Error('There is no show_ui.');
    const shown: unknown[] = [];
    const call = {
      signal: new AbortController().signal,
      showUi: (ui: Shown) => void shown.push(ui),
      noteFindings: () => {},
      handOver: () => {},
    };
    for (const [, ui] of VALID) expect(await runTool(entry, { ui }, call)).toMatchObject({ isError: false });
    expect(shown).toEqual(VALID.map(([, ui]) => ui));
  });
});

describe('limits', () => {
  test('8 levels of components are shown, 9 are not', async () => {
    expect((await show(nested(8))).isError).toBe(false);
    expect(await problemsOf(nested(9))).toEqual(['ui has 9 components above one another: at most 8']);
    expect(await problemsOf(nested(50))).toEqual(['ui nests too deeply: at most 8 components']);
    expect(await problemsOf(nested(5000))).toEqual(['ui nests too deeply: at most 8 components']);
  });

  test('200 components are shown, 201 are not', async () => {
    const many = (last: number) =>
      stack(...[49, 49, 49, last].map((count) => stack(...Array.from({ length: count }, () => ({ type: 'divider' })))));
    expect((await show(many(48))).isError).toBe(false);
    expect(await problemsOf(many(49))).toEqual(['ui has 201 components: at most 200']);
  });

  test('64 KiB are shown, one byte more is not, in ASCII and in other characters', async () => {
    const of = (bytes: number) => {
      const tree = stack(...Array.from({ length: 8 }, () => text('x'.repeat(8000))), text('x'));
      const rest = bytes - Buffer.byteLength(JSON.stringify(tree));
      return stack(...tree.children.slice(0, -1), text('x'.repeat(rest + 1)));
    };
    expect((await show(of(65_536))).isError).toBe(false);
    expect(await problemsOf(of(65_537))).toEqual(['ui has 65537 bytes as JSON: at most 65536']);
    expect(await problemsOf({ junk: 'x'.repeat(100_000) })).toEqual(['ui has 100011 bytes as JSON: at most 65536']);
  });

  test.each([
    ['a heading', { type: 'heading', text: 'x'.repeat(201) }, 'ui.text must not have more than 200 characters'],
    ['a text', text('x'.repeat(10_001)), 'ui.text must not have more than 10000 characters'],
    ['an empty text', text(''), 'ui.text must not be empty'],
    ['children', stack(...Array(51).fill({ type: 'divider' })), 'ui.children must NOT have more than 50 items'],
    ['no children', stack(), 'ui.children must NOT have fewer than 1 items'],
    [
      'rows',
      { type: 'table', columns: ['a'], rows: Array(101).fill(['x']) },
      'ui.rows must NOT have more than 100 items',
    ],
    ['a level', { type: 'heading', text: 'x', level: 4 }, 'ui.level must be <= 3'],
    ['a progress', { type: 'progress', value: 101 }, 'ui.value must be <= 100'],
  ])('of %s', async (_what, ui, problem) => {
    expect(await problemsOf(ui)).toEqual([problem]);
  });
});

describe('mistakes are named by their place, with what is allowed there', () => {
  const types = COMPONENT_TYPES.join(', ');
  test.each<[string, unknown, string[]]>([
    ['no tree', undefined, ['ui must be an object']],
    ['a list', [], ['ui must be an object']],
    ['no type', {}, [`ui.type must be one of ${types}`]],
    ['a type that is no text', { type: 5 }, [`ui.type must be one of ${types}`]],
    [
      'a type that there is not',
      stack({ type: 'video' }),
      [`ui.children[0].type: there is no component "video"; there are ${types}`],
    ],
    [
      'a type by its prototype',
      { type: 'constructor' },
      [`ui.type: there is no component "constructor"; there are ${types}`],
    ],
    [
      'a field that there is not',
      { ...text('a'), color: 'red' },
      ['ui has no field "color"; it has type, text, format'],
    ],
    [
      'a field that is missing',
      stack({ type: 'image', url: 'https://example.com/a.png' }),
      ['ui.children[0].alt is required'],
    ],
    [
      'a value that is none of its values',
      { type: 'chart', kind: 'pie', series: [] },
      ['ui.kind must be one of bar, line', 'ui.series must NOT have fewer than 1 items'],
    ],
    ['a number in words', { type: 'progress', value: '50' }, ['ui.value must be number']],
    ['a button that does nothing', { type: 'button', label: 'Go' }, ['ui must have either message or url']],
    [
      'a button that does both',
      { type: 'button', label: 'Go', message: 'a', url: 'https://example.com' },
      ['ui must have either message or url'],
    ],
    [
      'a row with too few cells',
      { type: 'table', columns: ['a', 'b'], rows: [[1, 2], [3]] },
      ['ui.rows[1] must have 2 cells, one for each column'],
    ],
    [
      'inputs',
      {
        type: 'form',
        inputs: [
          { name: 'a', label: 'A', kind: 'select' },
          { name: 'a', label: 'B', kind: 'text', options: ['x'] },
        ],
      },
      [
        'ui.inputs[0].options is required for kind select',
        'ui.inputs[1].options is for kind select only',
        'ui.inputs[1].name is that of another input',
      ],
    ],
    [
      'text in place of a component',
      stack('text', null),
      ['ui.children[0] must be an object', 'ui.children[1] must be an object'],
    ],
  ])('%s', async (_what, ui, problems) => {
    expect(await problemsOf(ui)).toEqual(problems);
  });

  test('only the first of many mistakes', async () => {
    const problems = await problemsOf(stack(...Array.from({ length: 40 }, () => ({ type: 'text' }))));
    expect(problems).toHaveLength(6);
    expect(problems.at(-1)).toBe('and 35 more');
  });
});

describe('hostile', () => {
  const addresses = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'http://example.com',
    'ftp://a.b',
    '//example.com',
    '/path',
    'example.com',
    '',
    'https:',
    'https://',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https:\\\\example.com',
    'https://bank.com@evil.example',
    'https://u:p@evil.example',
    'https://exa mple.com',
    'https://example.com/a b',
    ' https://example.com',
    'https://example.com/\u202egnp.exe',
    'https://example.com\t/',
    'https://example.com/"onerror="x',
    'https://example.com/<b>',
    'https://example.com:99999',
    'https://example.com/\\evil',
    'blob:https://example.com/1',
    'https://[::1',
    `https://example.com/${'a'.repeat(2000)}`,
  ];
  test.each(addresses)('the address %j is refused in images, links and buttons', async (url) => {
    for (const ui of [
      { type: 'image', url, alt: 'x' },
      { type: 'link', url, text: 'x' },
      { type: 'button', label: 'x', url },
    ]) {
      expect((await problemsOf(stack(ui)))[0]).toMatch(/^ui\.children\[0\]\.url must /);
    }
  });

  test.each(['approve', ' Reject\n', 'Ja!'])(
    'a button that decides on an approval with %j is refused',
    async (message) => {
      expect(await problemsOf(stack({ type: 'button', label: 'Details', message }))).toEqual([
        'ui.children[0].message must not be a decision on an approval, such as “approve” or “yes” alone: people write that themselves. Say what is meant',
      ]);
      expect((await show({ type: 'button', label: 'Yes', message: `Please ${message}` })).isError).toBe(false);
    },
  );

  test.each(['__proto__', 'constructor', 'prototype', 'toString'])('the field %s is refused', async (key) => {
    const ui = JSON.parse(`{"type":"text","text":"a",${JSON.stringify(key)}:{"polluted":true}}`);
    expect(await problemsOf(ui)).toEqual([`ui has no field "${key}"; it has type, text, format`]);
    expect(await problemsOf(stack(ui))).toEqual([`ui.children[0] has no field "${key}"; it has type, text, format`]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('a type that only the prototype has is unknown', async () => {
    const ui = JSON.parse('{"__proto__":{"type":"divider"}}');
    expect((await problemsOf(ui)).join()).toContain('ui.type must be one of');
  });
});

describe('descriptions for models and clients', () => {
  test('the schema of the tool has no references, and its description has the whole catalogue', async () => {
    const [tool] = toolsFrom(generativeUiCapability, scope);
    const schema = JSON.stringify(tool?.inputSchema);
    expect(schema).not.toMatch(/\$ref|\$defs|oneOf|anyOf|discriminator/);
    expect(schema).toContain(JSON.stringify(catalogueText()).slice(1, -1));
    expect(tool?.description.length).toBeLessThanOrEqual(1024);
    expect(generativeUiCapability.section()).toMatch(/^# Generative UI\n\n/);
  });

  test('the catalogue has each component with its fields', () => {
    const lines = catalogueText().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(COMPONENT_TYPES);
    expect(lines).toEqual(
      expect.arrayContaining([
        'heading {text, level?: 1..3}',
        'table {columns: [text], rows: [[scalar]]}',
        'chart {kind: bar|line, series: [{name, points: [{label, value: number}]}], title?}',
        'stat {label, value: text|number, change?} (change such as "+3 %")',
        'image {url: https, alt}',
      ]),
    );
  });

  test('the type in the document has the same values as the schemas that it names', () => {
    const { properties } = documentSchema('MessageUi') as { properties?: { type: Record<string, unknown> } };
    expect(properties?.type['x-extensible-enum']).toEqual(COMPONENT_TYPES);
    for (const type of COMPONENT_TYPES)
      expect(componentSchema(type)).toMatchObject({ properties: { type: { const: type } } });
    expect(Object.keys(PURPOSES)).toEqual(COMPONENT_TYPES);
  });

  test('an agent without the feature has no tool', () => {
    expect(
      toolsFrom(generativeUiCapability, { ...scope, snapshot: { ...scope.snapshot, genuiEnabled: false } }),
    ).toEqual([]);
  });
});
