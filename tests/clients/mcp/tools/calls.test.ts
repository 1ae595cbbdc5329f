import { jest } from '@jest/globals';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ToolSet, toolSet } from '../../../../clients/mcp/tools/index.ts';
import { guildhall } from '../../../../clients/sdk/index.ts';
import { makeReadyAgent } from '../../../support/agents/agents.ts';
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

  test('tells what is silently wrong with an agent that was published', async () => {
    const fields = { systemPrompt: 'In {{city}}.', dynamicPromptEnabled: true };
    const { publicId } = await makeReadyAgent(app, fields);
    const { content, structuredContent } = await call('agents__publish_agent', { agentPublicId: publicId });
    expect(structuredContent).toMatchObject({ publishedVersionNumber: 1 });
    expect(content.at(-1)).toEqual({ type: 'text', text: 'Warnings: variable_not_defined (city)' });
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

test('a call that takes long says so every ten seconds, and then no more', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  try {
    const said: string[] = [];
    const reply = Promise.withResolvers<unknown>();
    const api = { call: () => reply.promise } as unknown as ReturnType<typeof guildhall>;
    const { signal } = new AbortController();
    const progress = (message: string) => void said.push(message);
    const result = tools.call('hub__get_hub', {}, { api, signal, files: { folders: [] }, progress });
    // The module of calls is loaded with the first call.
    await new Promise((resolve) => setImmediate(resolve));
    await jest.advanceTimersByTimeAsync(25_000);
    reply.resolve({ name: 'Acme' });
    expect((await result).structuredContent).toEqual({ name: 'Acme' });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(said).toEqual(['Under way for 10 seconds.', 'Under way for 20 seconds.']);
  } finally {
    jest.useRealTimers();
  }
});

test('a call that is aborted rejects with the reason', async () => {
  const reason = new Error('The client has gone.');
  const api = guildhall({ apiKey: app.workspace.apiKey, baseUrl: app.origin, retries: 0 });
  const call = tools.call('hub__get_hub', {}, { api, signal: AbortSignal.abort(reason), files: { folders: [] } });
  await expect(call).rejects.toBe(reason);
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

  test('of the arguments names ten places at most, whatever is sent', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, index]));
    expect((await errorOf(call('hub__get_hub', unknown))).details).toHaveLength(10);
    const few = Object.fromEntries(Object.entries(unknown).slice(0, 100));
    expect((await errorOf(call('agents__create_agent', { body: few }))).details).toHaveLength(10);
  });

  test('of the arguments comes soon, also where thousands of places are wrong', async () => {
    const users = Array.from({ length: 20_000 }, () => 1);
    const began = process.cpuUsage();
    const { details } = await errorOf(call('clients__create_client', { body: { workspaceName: 'Many', users } }));
    // All of them in one list of errors took Ajv 2.7 seconds.
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
    expect(details).toEqual([{ field: expect.stringMatching(/^body\.users/), message: expect.any(String) }]);
  });

  test.each([
    ['..', 'cannot stand in an address'],
    ['\ud800', 'cannot stand in an address'],
    ['', 'must NOT have fewer than 1 characters'],
    [null, 'is required'],
  ])('of the arguments is said of %j in a path', async (featureKey, message) => {
    const agentPublicId = '0199a3f2-0000-7000-8000-00000000dead';
    const error = await errorOf(call('agent_features__get_feature', { agentPublicId, featureKey }));
    expect(error.details).toEqual([{ field: 'featureKey', message }]);
  });

  test.each([
    ['not an object', ['x'], [{ field: '', message: 'the arguments must be an object' }]],
    [
      'a body that is no JSON',
      { body: 'name: x' },
      [{ field: 'body', message: 'must be an object; this text is not JSON' }],
    ],
    ['a body that is a list', { body: [] }, [{ field: 'body', message: 'must be object' }]],
    ['no body', {}, [{ field: 'body', message: 'is required' }]],
  ])('of the arguments says what is wrong with %s', async (_what, args, details) => {
    expect((await errorOf(call('agents__create_agent', args))).details).toEqual(details);
  });

  test("of a large body is the service's, with the same names of fields", async () => {
    const body = { name: 'Large', description: 'x'.repeat(150_000) };
    expect(await errorOf(call('agents__create_agent', { body }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 400,
      request: 'POST /public/api/v1/agents',
      details: [{ field: 'body.description', message: expect.any(String) }],
    });
  });

  test('of a service that does not answer says so, with the request', async () => {
    const api = guildhall({ apiKey: app.workspace.apiKey, baseUrl: 'http://127.0.0.1:9', retries: 0 });
    const { signal } = new AbortController();
    const result = tools.call('agents__list_agents', { limit: 5 }, { api, signal, files: { folders: [] } });
    expect(await errorOf(result)).toMatchObject({
      code: 'NOT_REACHED',
      request: 'GET /public/api/v1/agents?limit=5',
      next: expect.stringContaining('may be down'),
    });
  });

  test('of a wrong key tells who can mend it', async () => {
    const api = guildhall({ apiKey: `gsk_${'0'.repeat(40)}`, baseUrl: app.origin, retries: 0 });
    const { signal } = new AbortController();
    const result = tools.call('hub__get_hub', {}, { api, signal, files: { folders: [] } });
    expect(await errorOf(result)).toMatchObject({ status: 401, next: expect.stringContaining('guildhall auth login') });
  });

  test('of a file names the argument', async () => {
    expect((await errorOf(call('skills__upload_skill', {}))).details).toEqual([
      { field: 'file_path', message: 'is required, or file_base64 and file_name' },
    ]);
    expect((await errorOf(call('skills__upload_skill', { file_path: 'a\0b' }, ['/tmp']))).details).toEqual([
      { field: 'file_path', message: expect.stringContaining('cannot be read') },
    ]);
    expect((await errorOf(call('knowledge_sources__create_knowledge_source', {}))).details).toEqual([
      { field: 'body', message: 'is required without a file' },
    ]);
  });
});
