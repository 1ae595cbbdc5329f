import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { GUIDE } from '../../../clients/mcp/guide.ts';
import { INSTRUCTIONS } from '../../../clients/mcp/instructions.ts';
import { getPrompt, PROMPTS } from '../../../clients/mcp/prompts.ts';
import { toolSet } from '../../../clients/mcp/tools/index.ts';

const tools = new Set(
  toolSet()
    .list()
    .map(({ name }) => name),
);
const prompts = PROMPTS.map(({ name, arguments: known }) => ({
  name,
  values: Object.fromEntries((known ?? []).map((argument) => [argument.name, `<${argument.name}>`])),
}));
const texts: [string, string][] = [
  ['the instructions', INSTRUCTIONS],
  ['the guide', GUIDE],
  ...prompts.map(({ name, values }): [string, string] => [
    `the prompt ${name}`,
    JSON.stringify(getPrompt(name, values)),
  ]),
];

test.each(texts)('%s name tools that exist', (_name, text) => {
  const named = [...text.matchAll(/\b[a-z0-9_]+__[a-z0-9_]+\b/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !tools.has(name))).toEqual([]);
});

test('the instructions are short: each connection pays for them', () => {
  expect(encode(INSTRUCTIONS).length).toBeLessThan(600);
});

test.each(prompts)('the prompt $name has its arguments in its text, and refuses others', ({ name, values }) => {
  const text = JSON.stringify(getPrompt(name, values));
  for (const value of Object.values(values)) expect(text).toContain(value);
  expect(() => getPrompt(name, { ...values, nonsense: 'x' })).toThrow('has no argument nonsense');
  expect(() => getPrompt(name, {})).toThrow(`${name} needs`);
});

test('a prompt that does not exist is the protocol’s error, with those that do', () => {
  expect(() => getPrompt('nothing')).toThrow('There are build_agent, debug_conversation.');
  expect(() => getPrompt('constructor')).toThrow('There is no prompt constructor.');
});
