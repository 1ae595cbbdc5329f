import { namedSchemas } from '../../../core/namedSchemas.ts';
import { checkUi } from '../../../runtime/generativeUi/validate.ts';
import { type EdgeParts, schemaEdges } from '../../support/http/schemaEdges.ts';

/** Every keyword of the schemas of components is tried: shown at its edge, refused beyond it. */

const address = (length: number) => 'https://a.example/'.padEnd(length, 'x').slice(0, length);
const divider = { type: 'divider' };
const input = { name: 'a', label: 'A', kind: 'select', required: true, options: ['a', 'b'] };
const form = { type: 'form', inputs: [input], title: 'a', submitLabel: 'a' };
const inputs = (first: object, count = 1) => ({
  ...form,
  inputs: Array.from({ length: count }, (_, i) => (i === 0 ? first : { ...input, name: `a${i}` })),
});
const table = { type: 'table', columns: ['a'], rows: [['x']] };
const urls = { texts: { url: address }, unlike: { url: 'http://a.example/' } };
/** The shortest text that the schema takes is no address. */
const long = (make: (url: unknown) => Record<string, unknown>) => (url: unknown) =>
  String(url).length < 20 ? undefined : make(url);

const PARTS: Record<string, EdgeParts> = {
  stack: { valid: { type: 'stack', children: [divider], direction: 'vertical' } },
  card: { valid: { type: 'card', children: [divider], title: 'a' } },
  heading: { valid: { type: 'heading', text: 'a', level: 1 } },
  text: { valid: { type: 'text', text: 'a', format: 'plain' } },
  list: { valid: { type: 'list', items: ['a'], ordered: true } },
  table: {
    valid: table,
    around: {
      columns: (columns) => ({ type: 'table', columns, rows: [] }),
      'rows/0': (row) => ({ ...table, columns: (row as unknown[]).map(String), rows: [row] }),
    },
  },
  keyValue: { valid: { type: 'keyValue', items: [{ key: 'a', value: 'b' }] } },
  image: {
    valid: { type: 'image', url: address(20), alt: 'a' },
    ...urls,
    around: { url: long((url) => ({ type: 'image', url, alt: 'a' })) },
  },
  link: {
    valid: { type: 'link', url: address(20), text: 'a' },
    ...urls,
    around: { url: long((url) => ({ type: 'link', url, text: 'a' })) },
  },
  divider: { valid: divider },
  progress: { valid: { type: 'progress', value: 1, label: 'a' } },
  stat: { valid: { type: 'stat', label: 'a', value: 'b', change: 'c' } },
  chart: {
    valid: { type: 'chart', kind: 'bar', series: [{ name: 'a', points: [{ label: 'a', value: 1 }] }], title: 'a' },
  },
  form: {
    valid: form,
    unlike: { 'inputs/0/name': '1a' },
    around: {
      inputs: (value) => inputs(input, (value as unknown[]).length),
      'inputs/0/kind': (kind) => inputs({ name: 'a', label: 'A', kind, ...(kind === 'select' && { options: ['a'] }) }),
    },
  },
};

describe.each(Object.entries(PARTS))('%s', (type, parts) => {
  const schema = namedSchemas('MessageUi').mapping.get(type);
  if (!schema) throw new Error(type);
  test.each(schemaEdges(schema, parts).map((edge) => [edge.what, edge] as const))(
    '%s',
    (_what, { form: ui, isAllowed }) => {
      const checked = checkUi(ui);
      if (isAllowed) expect(checked).toEqual({ ui });
      else expect(checked).toEqual({ problems: expect.arrayContaining([expect.any(String)]) });
    },
  );
});

test('every component is tried; the button, whose fields exclude each other, in generativeUi.test.ts', () => {
  expect([...Object.keys(PARTS), 'button'].toSorted()).toEqual(
    [...namedSchemas('MessageUi').mapping.keys()].toSorted(),
  );
});
