import { newId } from '../../../core/ids.ts';
import { makeToolset } from '../../../runtime/agent/toolset.ts';
import { httpToolsCapability } from '../../../runtime/capabilities/httpTools.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { answering, makeTool, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { useQueryDatabase } from '../../support/tools/queryDatabase.ts';
import { toolsFrom } from '../../support/turns/agentScope.ts';
import { linkedScope, runNamed } from './linked.ts';

let app: TestApp;
let server: ToolServer;
const queried = useQueryDatabase();
beforeAll(async () => {
  server = await startToolServer();
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => Promise.all([app.close(), server.close()]));

/** The tools of an agent that is linked to one new HTTP tool. */
async function toolsOf(fields: Parameters<typeof makeTool>[1] = {}, conversationId?: string) {
  const { publicId, name } = await makeTool(app, fields);
  const scope = await linkedScope(
    app,
    [['http_tool', publicId]],
    conversationId === undefined ? {} : { conversationId },
  );
  return { tools: toolsFrom(httpToolsCapability, scope), name, id: publicId };
}

const requesting = (path: string, more: object = {}) => ({ configuration: { url: server.origin + path, ...more } });

async function makeConversation(): Promise<string> {
  const { db, workspaceId } = app.workspace;
  const [agent_id, id] = [newId(), newId()];
  await db
    .insertInto('agents')
    .values({ workspace_id: workspaceId, id: agent_id, name: `For ${id}` })
    .execute();
  await db
    .insertInto('conversations')
    .values({ workspace_id: workspaceId, id, agent_id, external_user_id: 'user' })
    .execute();
  return id;
}

describe('an HTTP_REQUEST', () => {
  const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };

  test('is one tool with its name, description, schema and approval', async () => {
    const { tools, id } = await toolsOf({
      name: '2_get-order',
      description: 'Looks up an order.',
      requiresApproval: true,
      ...requesting('/orders/{{input.id}}', { inputSchema }),
    });
    expect(tools).toMatchObject([
      {
        name: '2_get-order',
        owner: null,
        description: 'Looks up an order.',
        inputSchema,
        requiresApproval: true,
        origin: { kind: 'http_tool', id, operationId: null },
      },
    ]);
    expect(makeToolset(tools).definitions[0]?.name).toBe('_2_get-order');
  });

  test.each([
    ['{"status": "shipped",\n "items": [1]}', 'application/json', '{"status":"shipped","items":[1]}'],
    ['[1, 2]', 'application/json', '{"data":[1,2]}'],
    ['It is on its way.', 'text/plain', 'It is on its way.'],
    ['', 'text/plain', 'Done. The answer is empty.'],
  ])('answers %j of %s with %s', async (body, type, text) => {
    server.on('/orders/7', answering(body, type));
    const { tools, name } = await toolsOf(requesting('/orders/{{input.id}}', { inputSchema }));
    expect(await runNamed(tools, name, { id: '7' })).toEqual({ text, isError: false });
  });

  test('that fails returns the reason and the response of the server', async () => {
    server.on('/orders/8', answering('{"error": "no such order"}', 'application/json', 404));
    const { tools, name } = await toolsOf(requesting('/orders/{{input.id}}', { inputSchema }));
    expect(await runNamed(tools, name, { id: '8' })).toEqual({
      text: 'The server answered 404 Not Found.\n{"error":"no such order"}',
      isError: true,
    });
    const wrong = await runNamed(tools, name, {});
    expect(wrong).toEqual({ text: 'The inputs do not fit the tool: id is required.', isError: true });
  });

  test('that gets no response is ended by the signal, with its reason', async () => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    server.on('/slow', (_received, response) => {
      response.on('close', () => closed.resolve());
      asked.resolve();
    });
    const { tools, name } = await toolsOf(requesting('/slow'));
    const controller = new AbortController();
    const running = runNamed(tools, name, {}, controller.signal);
    await asked.promise;
    const reason = new Error('over');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await closed.promise;
  });

  test('never shows its secrets, though the server returns them', async () => {
    const { tools, name } = await toolsOf(
      requesting('/echo', {
        headers: { authorization: 'Bearer {{secret.token}}' },
        secrets: { token: 'st_live_7Qm2' },
      }),
    );
    const { text } = await runNamed(tools, name);
    expect(server.received.at(-1)?.headers.authorization).toBe('Bearer st_live_7Qm2');
    expect(text).toContain('Bearer ********');
    expect(text).not.toContain('st_live_7Qm2');
    expect(JSON.stringify(makeToolset(tools).definitions)).not.toContain('st_live_7Qm2');
  });

  test('without a description says what it does, and names only the host of its address', async () => {
    const secret = { method: 'POST', url: 'https://api.example.com/T0/{{secret.hook}}', secrets: { hook: 'hook_1' } };
    expect((await toolsOf({ configuration: secret })).tools[0]?.description).toBe(
      'Sends a POST request to api.example.com.',
    );
    const open = { configuration: { url: '{{input.url}}' } };
    expect((await toolsOf(open)).tools[0]?.description).toBe('Sends a GET request.');
  });
});

describe('a DATABASE_QUERY', () => {
  const querying = (query: string, more: object = {}) => ({
    toolType: 'DATABASE_QUERY' as const,
    configuration: { connection: queried.url(), query, ...more },
  });

  test('returns its rows', async () => {
    const { tools, name } = await toolsOf(querying('select :a::int + 1 as sum'));
    expect(await runNamed(tools, name, { a: 2 })).toEqual({ text: '{"rows":[{"sum":3}]}', isError: false });
    expect(tools[0]?.description).toBe(`Runs the query “${name}” on a database and returns its rows.`);
  });

  test('that fails returns the reason without the address of the database', async () => {
    const { tools, name } = await toolsOf(querying('select 1 / :a::int as x'));
    const { text, isError } = await runNamed(tools, name, { a: 0 });
    expect([isError, text]).toEqual([true, expect.stringContaining('division by zero')]);
    expect(text).not.toContain(queried.url());
  });

  test('that takes too long is ended by the signal', async () => {
    const { tools, name } = await toolsOf(querying('select pg_sleep(60)'));
    const controller = new AbortController();
    const running = runNamed(tools, name, {}, controller.signal);
    while (!(await queried.runningSessions()).some((query) => query.startsWith('active')))
      await new Promise(setImmediate);
    controller.abort(new Error('over'));
    await expect(running).rejects.toThrow('over');
    await queried.untilNoSession();
  });
});

describe('an INTERNAL_VARIABLE', () => {
  const variable = (more: object = {}) => ({
    toolType: 'INTERNAL_VARIABLE' as const,
    configuration: { name: 'stage', type: 'string', scope: 'conversation', writable: true, ...more },
  });

  test('of a conversation is read and written in the conversation that runs', async () => {
    const conversationId = await makeConversation();
    const { tools, name, id } = await toolsOf(variable({ defaultValue: 'new' }), conversationId);
    expect(await runNamed(tools, name)).toEqual({ text: '{"value":"new"}', isError: false });
    await runNamed(tools, name, { value: 'paid' });
    expect(await runNamed(tools, name)).toEqual({ text: '{"value":"paid"}', isError: false });
    const elsewhere = await linkedScope(app, [['http_tool', id]], { conversationId: await makeConversation() });
    expect(await runNamed(toolsFrom(httpToolsCapability, elsewhere), name)).toEqual({
      text: '{"value":"new"}',
      isError: false,
    });
  });

  test('refuses a value of another type', async () => {
    const { tools, name } = await toolsOf(variable(), await makeConversation());
    expect(await runNamed(tools, name, { value: 7 })).toEqual({
      text: 'The variable stage was not written: the value must be of type string.',
      isError: true,
    });
  });

  test('without a description says what it stores', async () => {
    const [written] = (await toolsOf(variable())).tools;
    expect(written?.description).toBe(
      'Reads the variable “stage” (string), which is kept in this conversation, or writes it when a value is given.',
    );
    const [read] = (await toolsOf(variable({ writable: false, scope: 'workspace' }))).tools;
    expect(read?.description).toBe('Reads the variable “stage” (string), which is kept for all conversations.');
  });
});

describe('a CUSTOM_INTEGRATION', () => {
  const integration = (more: object = {}) => ({
    toolType: 'CUSTOM_INTEGRATION' as const,
    name: `parcels_${newId()}`,
    configuration: {
      openapi: {
        openapi: '3.0.3',
        servers: [{ url: `${server.origin}/v2` }],
        paths: {
          '/parcels/{id}': {
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
            get: { operationId: 'trackParcel', summary: 'Where a parcel is' },
            delete: {
              operationId: 'cancel',
              parameters: [{ name: 'filter[why]', in: 'query', schema: { type: 'string' } }],
            },
          },
        },
      },
      operations: ['trackParcel', 'cancel'],
      auth: { type: 'bearer', secret: 'tok_live_1' },
    },
    ...more,
  });

  test('is a tool for each endpoint, with the operationId as its name', async () => {
    const { tools, name, id } = await toolsOf(integration({ description: 'Parcels of ours.' }));
    expect(tools.map((tool) => [tool.name, tool.owner, tool.origin])).toEqual(
      ['trackParcel', 'cancel'].map((operationId) => [operationId, name, { kind: 'http_tool', id, operationId }]),
    );
    expect(tools[0]?.description).toMatch(/^Where a parcel is\nParcels of ours\.$/);
    expect(await runNamed(tools, 'trackParcel', { id: 'P/1', operationId: 'cancel' })).toMatchObject({
      isError: false,
    });
    expect(server.received.at(-1)).toMatchObject({
      method: 'GET',
      url: '/v2/parcels/P%2F1',
      headers: { authorization: 'Bearer tok_live_1' },
    });
  });

  test('accepts inputs whose names models cannot use', async () => {
    const { tools } = await toolsOf(integration());
    const [, definition] = makeToolset(tools).definitions;
    expect(Object.keys(definition?.inputSchema.properties as object)).toEqual(['id', 'filter_why_']);
    await runNamed(tools, 'cancel', { id: '1', filter_why_: 'late' });
    expect(server.received.at(-1)?.url).toBe('/v2/parcels/1?filter%5Bwhy%5D=late');
  });

  test('that fails or gets wrong inputs returns the reason without secrets', async () => {
    const { tools, name } = await toolsOf(integration());
    expect(tools[1]?.description).toBe(`DELETE /parcels/{id} of “${name}”.`);
    expect(await runNamed(tools, 'trackParcel')).toMatchObject({ isError: true, text: expect.stringContaining('id') });
    server.on('/v2/parcels/9', answering('{"detail":"tok_live_1 is not allowed"}', 'application/json', 403));
    expect(await runNamed(tools, 'trackParcel', { id: '9' })).toEqual({
      text: 'The server answered 403 Forbidden.\n{"detail":"******** is not allowed"}',
      isError: true,
    });
  });
});

test('the description of a tool is computed once, not in every turn', async () => {
  const { publicId } = await makeTool(app);
  const scope = await linkedScope(app, [['http_tool', publicId]]);
  expect(toolsFrom(httpToolsCapability, scope)[0]?.inputSchema).toBe(
    toolsFrom(httpToolsCapability, scope)[0]?.inputSchema,
  );
});
