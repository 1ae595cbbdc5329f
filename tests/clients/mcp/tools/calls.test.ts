import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ToolSet, toolSet } from '../../../../clients/mcp/tools/index.ts';
import { guildhall } from '../../../../clients/sdk/index.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';

let app: TestApp;
let tools: ToolSet;

beforeAll(async () => {
  app = await startTestApp();
  tools = toolSet();
});

afterAll(() => app?.close());

const call = (name: string, args: unknown = {}, folders: string[] = []): Promise<CallToolResult> =>
  tools.call(name, args, {
    api: guildhall({ apiKey: app.workspace.apiKey, baseUrl: app.origin, retries: 0 }),
    signal: new AbortController().signal,
    files: { folders },
  });

/** The error that a result is, as the model reads it. */
async function errorOf(result: Promise<CallToolResult>): Promise<Record<string, unknown>> {
  const { isError, content } = await result;
  expect(isError).toBe(true);
  return JSON.parse((content[0] as { text: string }).text).error;
}

describe('a call', () => {
  test('answers with the fields as structured content, and as text for clients that show only text', async () => {
    const made = await call('agents__create_agent', { body: { name: 'Support' } });
    expect(made.structuredContent).toMatchObject({ name: 'Support', status: 'draft' });
    expect(JSON.parse((made.content[0] as { text: string }).text)).toEqual(made.structuredContent);
    expect(made.isError).toBeUndefined();
  });

  test('answers an array as items, and nothing as done', async () => {
    expect((await call('hub_external_links__list_external_links')).structuredContent).toEqual({ items: [] });
    const { publicId } = (await call('agents__create_agent', { body: { name: 'Gone' } })).structuredContent as {
      publicId: string;
    };
    expect((await call('agents__delete_agent', { agentPublicId: publicId })).structuredContent).toEqual({ done: true });
  });

  test('takes JSON text for objects and lists, text for numbers and booleans, and one value for a list', async () => {
    const body = JSON.stringify({ name: 'As text', categories: '["a","b"]' });
    expect((await call('agents__create_agent', { body })).structuredContent).toMatchObject({ categories: ['a', 'b'] });
    const page = await call('agents__list_agents', {
      limit: '1',
      includeArchived: 'true',
      status: 'draft',
      search: null,
    });
    expect(page.structuredContent).toMatchObject({ limit: 1, items: [{ status: 'draft' }] });
  });
});

describe('an error', () => {
  test('of the service says code, message, status, request id, the request that was sent, and what to do', async () => {
    const id = '0199a3f2-0000-7000-8000-00000000dead';
    expect(await errorOf(call('agents__get_agent', { agentPublicId: id }))).toEqual({
      code: 'AGENT_NOT_FOUND',
      message: expect.any(String),
      status: 404,
      requestId: expect.stringMatching(/./),
      request: `GET /public/api/v1/agents/${id}`,
      next: 'Find the right one with agents__list_agents.',
    });
  });

  test('of the arguments names each field, and nothing is sent', async () => {
    const error = await errorOf(
      call('agents__create_agent', { body: { nam: 'x', categories: [1] }, agentId: 'x', name: 'y' }),
    );
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENTS' });
    expect(error.request).toBeUndefined();
    expect(error.details).toEqual([
      { field: 'agentId', message: 'is not known; the arguments are: body' },
      { field: 'name', message: 'is a field of body: {"body": {"name": …}}' },
      { field: 'body.name', message: 'is required' },
      { field: 'body.nam', message: 'is not known; did you mean name?' },
      { field: 'body.categories[0]', message: 'must be string' },
    ]);
  });
});
