import { readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { toolSet } from '../../../../clients/mcp/tools/index.ts';
import { toolName } from '../../../../clients/mcp/tools/name.ts';
import { type OperationId, operations } from '../../../../generated/operations.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
};

const tools = toolSet().list();
/** The names of the product specification, in the order of the document. Other people's configurations have them: they never change. */
const expected = readFileSync(new URL('./names.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

const tokens = (value: unknown): number => encode(JSON.stringify(value)).length;

/** A schema and every schema in it. */
function within(schema: Schema): Schema[] {
  return [
    schema,
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ].flatMap((each) => (each === schema ? [each] : within(each)));
}

describe('the list', () => {
  test('has the 135 tools of the product specification, in the order of the document', () => {
    expect(expected).toHaveLength(135);
    expect(tools.map(({ name }) => name)).toEqual(expected);
  });

  test('has every operation but the streamed one, under the name that follows from its tag and its id', () => {
    const ids = (Object.keys(operations) as OperationId[]).filter((id) => id !== 'streamMessage');
    expect(tools.map(({ name }) => name)).toEqual(ids.map((id) => toolName(operations[id].tag, id)));
  });

  test('is the same each time', () => {
    expect(JSON.stringify(toolSet().list())).toBe(JSON.stringify(tools));
  });
});

describe('input schemas', () => {
  test.each(tools.map((tool) => [tool.name, tool] as const))('%s is whole', (_name, { inputSchema }) => {
    const schema = inputSchema as Schema;
    expect(JSON.stringify(schema)).not.toMatch(/"\$ref"|"\$defs"|"x-/);
    expect(schema.type).toBe('object');
    for (const each of within(schema)) {
      for (const name of each.required ?? []) expect(Object.keys(each.properties ?? {})).toContain(name);
    }
    if (schema.properties?.body) expect(schema.properties.body.type).toBe('object');
  });

  test('have no name that would have to be quoted in code', () => {
    const names = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}));
    expect(names.filter((name) => !/^[a-zA-Z_]\w*$/.test(name))).toEqual([]);
  });

  test('show the shapes of configurations whole', () => {
    const shapes = (name: string, field: string) => {
      const schema = tools.find((tool) => tool.name === name)?.inputSchema as Schema | undefined;
      const body = schema?.properties?.body;
      return body?.properties?.[field]?.anyOf?.map((each) => (each as { title?: string }).title);
    };
    const types = ['HTTP_REQUEST', 'DATABASE_QUERY', 'INTERNAL_VARIABLE', 'CUSTOM_INTEGRATION'];
    expect(shapes('http_tools__create_tool', 'configuration')).toEqual(types);
    expect(shapes('http_tools__update_tool', 'configuration')).toEqual(types);
    expect(shapes('agent_features__update_feature', 'config')).toEqual([
      'follow-up',
      'message-delay',
      'long-term-memory',
      'audio',
    ]);
  });
});

describe('size, in tokens of o200k_base', () => {
  test('what a model is sent of all tools is at most 16,000 tokens, where 20,000 are allowed', () => {
    const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(tokens(sent)).toBeLessThanOrEqual(16_000);
  });

  test('the whole list, with output schemas, titles and annotations, is at most 40,000 tokens', () => {
    expect(tokens(tools)).toBeLessThanOrEqual(40_000);
  });

  test('a description is one short sentence', () => {
    const long = tools.filter(({ description = '' }) => tokens(description) > 50);
    expect(long.map(({ name }) => name)).toEqual([]);
  });
});

test('words about other tools have their whole names', () => {
  const text = JSON.stringify(tools.map(({ description, inputSchema }) => [description, inputSchema]));
  const mentioned = text.match(/\b[a-z]+(?:_[a-z]+)*__[a-z_]+\b/g) ?? [];
  expect(mentioned.length).toBeGreaterThan(5);
  expect(mentioned.filter((name) => !expected.includes(name))).toEqual([]);
  const ends = expected.map((name) => name.split('__')[1] ?? '');
  const words: string[] = text.match(/(?<![a-z_])[a-z]+(?:_[a-z]+)+(?![a-z_])/g) ?? [];
  expect(words.filter((word) => ends.includes(word))).toEqual([]);
});
