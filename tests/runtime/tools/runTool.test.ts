import { randomBytes } from 'node:crypto';
import { newId } from '../../../core/ids.ts';
import { SecretBox } from '../../../core/secrets.ts';
import { functionsOf, runHttpTool } from '../../../runtime/tools/runTool.ts';
import { sealSecrets } from '../../../runtime/tools/secrets/secrets.ts';
import type { RunnableTool, ToolRunContext, ToolType } from '../../../runtime/tools/tool.ts';
import { startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';

let server: ToolServer;
beforeAll(async () => {
  server = await startToolServer();
});
afterAll(() => server.close());

const ring = [randomBytes(32)];
const secrets = new SecretBox(() => ring);
const context: ToolRunContext = {
  // None of these tools reads the database.
  db: undefined as never,
  workspaceId: newId(),
  runtime: { secrets, allowPrivateNetwork: true, clock: { now: () => new Date('2026-11-21T09:31:00.000Z') } },
};

function toolOf(
  configuration: object,
  type: ToolType = 'HTTP_REQUEST',
  more: Partial<RunnableTool> = {},
): RunnableTool {
  return {
    id: newId(),
    tool_type: type,
    configuration: { ...configuration },
    secrets: null,
    operations: null,
    ...more,
  };
}

/** What a model can call of a tool named “shop”. */
const functions = (...tool: Parameters<typeof toolOf>) => functionsOf({ name: 'shop', ...toolOf(...tool) });

describe('what a model can call of a tool', () => {
  test('a request and a query take the inputs of their inputSchema, or none', () => {
    const inputSchema = { type: 'object', properties: { a: {} } };
    expect(functions({ url: 'https://a', inputSchema })).toEqual([
      { operationId: null, description: '', fallbackDescription: 'Sends a GET request to a.', inputSchema },
    ]);
    expect(functions({ query: 'select 1' }, 'DATABASE_QUERY')[0]?.inputSchema).toEqual({
      type: 'object',
      properties: {},
    });
  });

  test('a variable takes a value when it is writable', () => {
    const inputOf = (writable: boolean) =>
      functions({ name: 'a', type: 'number', scope: 'workspace', writable }, 'INTERNAL_VARIABLE')[0]?.inputSchema;
    expect(inputOf(true)).toMatchObject({ properties: { value: { type: 'number' } }, additionalProperties: false });
    expect(inputOf(false)).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });

  test('an integration is one for each endpoint', () => {
    const endpoint = {
      operationId: 'ping',
      description: 'Is it there?',
      inputSchema: { type: 'object' },
      method: 'GET',
      server: 'https://a',
      path: '/ping',
      parameters: [],
      bodyType: null,
    };
    expect(functions({}, 'CUSTOM_INTEGRATION', { operations: [endpoint] })).toEqual([
      {
        operationId: 'ping',
        description: 'Is it there?',
        fallbackDescription: 'GET /ping of “shop”.',
        inputSchema: { type: 'object' },
      },
    ]);
  });
});

describe('a run', () => {
  test('that is aborted returns a result that says so', async () => {
    server.on('/never', () => undefined);
    const controller = new AbortController();
    const running = runHttpTool(context, toolOf({ url: `${server.origin}/never` }), {}, controller.signal);
    controller.abort(new Error('The turn was stopped.'));
    expect(await running).toMatchObject({ success: false, statusCode: null, errorMessage: 'The run was stopped.' });
  });

  test('opens only the secrets of its own row and workspace', async () => {
    const configuration = { url: server.origin, headers: { a: '{{secret.a}}' }, secrets: { a: '********' } };
    const tool = toolOf(configuration);
    const sealed = sealSecrets(secrets, context.workspaceId, tool.id, { '/secrets/a': 'abcd' });
    expect(await runHttpTool(context, { ...tool, secrets: sealed }, {})).toMatchObject({ success: true });
    const elsewhere = { ...context, workspaceId: newId() };
    for (const run of [
      runHttpTool(elsewhere, { ...tool, secrets: sealed }, {}),
      runHttpTool(context, { ...tool, id: newId(), secrets: sealed }, {}),
    ]) {
      expect(await run).toMatchObject({ success: false, errorMessage: expect.stringMatching(/cannot be read/) });
    }
  });

  test('ends when hiding secrets in the response takes too long', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `s${index}`);
    const values = names.map((name, index) => [`/secrets/${name}`, `${'a'.repeat(8000 + index)}b`]);
    server.on('/nearly', (_request, response) => response.end('a'.repeat(1_000_000)));
    const hidden = Object.fromEntries(names.map((name) => [name, '********']));
    const tool = toolOf({ url: `${server.origin}/nearly`, secrets: hidden });
    const sealed = sealSecrets(secrets, context.workspaceId, tool.id, Object.fromEntries(values));
    expect(await runHttpTool(context, { ...tool, secrets: sealed }, {})).toMatchObject({
      success: false,
      statusCode: 200,
      responseData: null,
      errorMessage: 'It takes too long to hide the secrets of the tool in its answer.',
    });
  });

  test('refuses inputs that nest too deep', async () => {
    let deep: object = {};
    for (let level = 0; level < 50_000; level += 1) deep = { deep };
    const tool = toolOf({ url: server.origin, method: 'POST', body: '{{input.deep}}' });
    expect(await runHttpTool(context, tool, { deep })).toMatchObject({ success: false });
  });

  test('throws an error that is not a failure of the tool', async () => {
    const tool = toolOf({ name: 'a', type: 'number', scope: 'workspace' }, 'INTERNAL_VARIABLE');
    await expect(runHttpTool(context, tool, {})).rejects.toThrow(TypeError);
  });
});

describe('a secret in a host name is hidden', () => {
  const run = (url: string, tenant: string) => {
    const tool = toolOf({ url, secrets: { tenant: '********' } });
    const sealed = sealSecrets(secrets, context.workspaceId, tool.id, { '/secrets/tenant': tenant });
    return runHttpTool(context, { ...tool, secrets: sealed }, {});
  };
  const port = () => new URL(server.origin).port;

  test.each([
    ['in lower case, as a URL has it', 'http://{{secret.tenant}}.localhost:65534/', 'Tenant-X9', 'tenant-x9'],
    ['in ASCII, as DNS has it', 'http://{{secret.tenant}}.localhost:65534/', 'Zürich-Nord', 'xn--zrich-nord'],
    ['as a part of a label in ASCII', 'http://ä{{secret.tenant}}.localhost:65534/', 'nordost', 'nordost'],
    ['of a few letters', 'http://{{secret.tenant}}.localhost:65534/', 'XYZ', 'xyz'],
    ['of a name that does not resolve', 'http://{{secret.tenant}}.invalid/', 'Tenant-X9', 'tenant-x9'],
    ['as the whole address', '{{secret.tenant}}/orders', 'http://Tenant-X9.localhost:65534', 'tenant-x9'],
  ])('%s, in an error', async (_what, url, tenant, shown) => {
    const { success, errorMessage } = await run(url, tenant);
    expect(success).toBe(false);
    expect(errorMessage).toContain('********');
    expect(errorMessage?.toLowerCase()).not.toContain(shown);
    expect(errorMessage?.toLowerCase()).not.toContain(tenant.toLowerCase());
  });

  test('in what the server sends back', async () => {
    const { success, responseData } = await run(`http://{{secret.tenant}}.localhost:${port()}/x`, 'Tenant-X9');
    expect(success).toBe(true);
    expect(server.received.at(-1)?.headers.host).toBe(`tenant-x9.localhost:${port()}`);
    expect(responseData).toMatchObject({ url: '/x', headers: { host: '********' } });
  });
});
