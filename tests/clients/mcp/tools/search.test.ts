import type { CallToolResult } from '@modelcontextprotocol/server';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { type ToolSet, toolSet } from '../../../../clients/mcp/tools/index.ts';
import { ToolSearch } from '../../../../clients/mcp/tools/search.ts';
import { toolRows } from '../../../../clients/mcp/tools/table.ts';
import { guildhall } from '../../../../clients/sdk/index.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { PHRASINGS } from './phrasings.ts';

const search = new ToolSearch(toolRows);
const found = (question: string): string[] => search.find(question, 3).map(({ operationId }) => operationId);

describe('the search', () => {
  test.each(PHRASINGS)('"%s" finds %s among the first three', (question, operations) => {
    const wanted = operations.split(' ');
    expect(found(question).filter((id) => wanted.includes(id))).not.toEqual([]);
  });

  test('finds the right operation first nearly always', () => {
    const first = PHRASINGS.filter(([question, operations]) =>
      operations.split(' ').includes(found(question)[0] ?? ''),
    );
    expect(first.length / PHRASINGS.length).toBeGreaterThanOrEqual(0.85);
  });

  test.each(toolRows.map(({ operationId, tool }) => [tool.title ?? '', operationId]))(
    'the title "%s" finds its own operation first',
    (title, id) => {
      expect(found(title)[0]).toBe(id);
    },
  );

  test('a question without a word of the API finds nothing, and one without end ends', () => {
    expect(found('xyzzy the of')).toEqual([]);
    expect(found('publish '.repeat(100_000))[0]).toBe('publishAgent');
  });
});

describe('the three tools', () => {
  let app: TestApp;
  const tools = toolSet({ mode: 'search' });

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app?.close());

  const call = (name: string, args: unknown, set: ToolSet = tools): Promise<CallToolResult> =>
    set.call(name, args, {
      api: guildhall({ apiKey: app.workspace.apiKey, baseUrl: app.origin, retries: 0 }),
      signal: new AbortController().signal,
      files: { folders: [] },
    });
  const messageOf = async (result: Promise<CallToolResult>): Promise<string> => {
    const { isError, content } = await result;
    expect(isError).toBe(true);
    return JSON.parse((content[0] as { text: string }).text).error.message;
  };

  test('are listed within 700 tokens', () => {
    expect(tools.list().map(({ name }) => name)).toEqual(['search_operations', 'describe_operation', 'call_operation']);
    expect(encode(JSON.stringify(tools.list())).length).toBeLessThanOrEqual(700);
  });

  test('find an operation, describe it and call it', async () => {
    const { structuredContent: first } = await call('search_operations', { query: 'make a new agent', limit: 1 });
    expect(first).toEqual({
      operations: [{ name: 'agents__create_agent', description: expect.any(String), arguments: ['body'] }],
    });
    const { structuredContent: second } = await call('describe_operation', { name: 'agents__create_agent' });
    expect(second).toMatchObject({ inputSchema: { properties: { body: { required: ['name'] } } } });
    const { structuredContent: third } = await call('call_operation', {
      name: 'agents__create_agent',
      arguments: { body: { name: 'Found' } },
    });
    expect(third).toMatchObject({ name: 'Found', status: 'draft' });
  });

  test('say what is near an unknown name, and where arguments belong', async () => {
    expect(await messageOf(call('describe_operation', { name: 'agents__make_agent' }))).toContain(
      'Did you mean agents__',
    );
    expect(await messageOf(call('call_operation', { name: 'agents__get_agent', agentPublicId: 'x' }))).toBe(
      'agentPublicId is not known here: put it into arguments, as {"name": …, "arguments": {"agentPublicId": …}}.',
    );
    expect(await messageOf(call('search_operations', {}))).toContain('query is required');
  });

  test('a search without a hit names the areas', async () => {
    const { structuredContent } = await call('search_operations', { query: 'xyzzy' });
    expect(structuredContent).toEqual({ operations: [], hint: expect.stringContaining('Agent Prompt') });
  });

  test('offer only what was chosen', async () => {
    const reading = toolSet({ mode: 'search', readOnly: true, tags: ['agents'] });
    expect(reading.list().at(-1)?.annotations).toEqual({ readOnlyHint: true, openWorldHint: true });
    const { structuredContent } = await call('search_operations', { query: 'delete an agent', limit: 20 }, reading);
    const names = (structuredContent as { operations: { name: string }[] }).operations.map(({ name }) => name);
    expect(names.toSorted()).toEqual(['agents__get_agent', 'agents__list_agents']);
    expect(await messageOf(call('call_operation', { name: 'agents__delete_agent' }, reading))).toContain(
      'no operation',
    );
  });
});
