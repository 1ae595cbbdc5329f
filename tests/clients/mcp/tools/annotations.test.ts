import { readFileSync } from 'node:fs';
import { toolSet } from '../../../../clients/mcp/tools/index.ts';
import { operations } from '../../../../generated/operations.ts';

const tools = toolSet().list();

/** Reviewed by people: a line changes only when somebody has thought about what a client does with it. */
const reviewed = readFileSync(new URL('./annotations.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

test('the annotations of each tool are those that were reviewed', () => {
  const lines = tools.map(({ name, annotations = {} }) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
    const words = [
      readOnlyHint ? 'reads' : 'writes',
      destructiveHint && 'destructive',
      idempotentHint && 'idempotent',
      openWorldHint && 'open world',
    ];
    return `${name}: ${words.filter(Boolean).join(', ')}`;
  });
  expect(lines).toEqual(reviewed);
});

test('every hint that counts is given, and none that does not', () => {
  for (const { annotations = {} } of tools) {
    const writing = ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint'];
    expect(Object.keys(annotations).toSorted()).toEqual(
      annotations.readOnlyHint ? ['openWorldHint', 'readOnlyHint'] : writing,
    );
  }
});

test('tools that only read are those with the method GET', () => {
  const reading = Object.values(operations).filter(({ method }) => method === 'GET');
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint)).toHaveLength(reading.length);
});

test('each tool has a title of its own', () => {
  const titles = tools.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.filter((title) => !title)).toEqual([]);
});
