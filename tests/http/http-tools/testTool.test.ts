// Long: each of the four kinds runs against servers of this file.
import { newId } from '../../../core/ids.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { answering, makeTool, startToolServer, type ToolServer, tryTool } from '../../support/tools/httpTools.ts';
import { allNotFound, answersForMissing } from './tools.ts';

let app: TestApp;
let server: ToolServer;
let other: ToolServer;
beforeAll(async () => {
  [server, other] = await Promise.all([startToolServer(), startToolServer()]);
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(() => Promise.all([app.close(), server.close(), other.close()]));

/** Makes an HTTP_REQUEST to the server and runs it once. */
async function run(path: string, configuration: object = {}, inputs: Record<string, unknown> = {}) {
  const { publicId } = await makeTool(app, { configuration: { url: server.origin + path, ...configuration } });
  return tryTool(app, publicId, inputs);
}
const lastReceived = () => server.received.at(-1);
const failed = (errorMessage: unknown, statusCode: number | null = null) => ({
  success: false,
  statusCode,
  responseData: null,
  errorMessage,
  executionTimeMs: expect.any(Number),
  executedAt: app.clock.now().toISOString(),
});

describe('200 of an HTTP_REQUEST', () => {
  test('the request is sent and its response returned, without an approval', async () => {
    server.on('/orders/A-1', answering('{"status":"shipped"}'));
    const configuration = { url: `${server.origin}/orders/{{input.number}}` };
    const { publicId } = await makeTool(app, { configuration, requiresApproval: true });
    const result = await tryTool(app, publicId, { number: 'A-1' });
    expect(result).toEqual({
      success: true,
      statusCode: 200,
      responseData: { status: 'shipped' },
      errorMessage: null,
      executionTimeMs: expect.any(Number),
      executedAt: app.clock.now().toISOString(),
    });
    expect(Number.isInteger(result.executionTimeMs)).toBe(true);
  });

  test('inputs and secrets replace their placeholders', async () => {
    const configuration = {
      method: 'POST',
      url: `${server.origin}/echo/{{input.id}}?a={{input.a}}`,
      headers: { Authorization: 'Bearer {{secret.token}}', 'X-Note': '{{input.note}}' },
      query: { list: '{{input.list}}', gone: '{{input.gone}}' },
      body: { id: '{{input.id}}', count: '{{input.count}}', text: 'n={{input.count}}', gone: '{{input.gone}}' },
      secrets: { token: 'st_live_7Qm2' },
    };
    const { publicId } = await makeTool(app, { configuration });
    await tryTool(app, publicId, { id: 'a/b', a: 'x&y=1', note: 'é', list: [1, 2], count: 3 });
    expect(lastReceived()).toMatchObject({
      method: 'POST',
      url: '/echo/a%2Fb?a=x%26y%3D1&list=1&list=2',
      headers: { authorization: 'Bearer st_live_7Qm2', 'x-note': 'Ã©', 'content-type': 'application/json' },
      body: '{"id":"a/b","count":3,"text":"n=3"}',
    });
  });

  test('a missing input has the default of the inputSchema', async () => {
    const inputSchema = { type: 'object', properties: { limit: { type: 'integer', default: 5 } } };
    await run('/echo', { query: { limit: '{{input.limit}}' }, inputSchema });
    expect(lastReceived()?.url).toBe('/echo?limit=5');
  });

  test.each([
    ['[1,2]', 'application/json', { data: [1, 2] }],
    ['all well', 'text/plain', { text: 'all well' }],
    ['', 'text/plain', null],
  ])('the response %j of type %s', async (body, type, responseData) => {
    server.on('/answer', answering(body, type));
    expect(await run('/answer')).toMatchObject({ success: true, statusCode: 200, responseData });
  });

  test.each([
    [401, 'The server answered 401 Unauthorized.'],
    [404, 'The server answered 404 Not Found.'],
    [500, 'The server answered 500 Internal Server Error.'],
    [304, 'The server answered 304 Not Modified.'],
  ])('a response with status %i is a failure with its body', async (status, errorMessage) => {
    server.on('/status', answering(status === 304 ? '' : '{"error":"no"}', 'application/json', status));
    const responseData = status === 304 ? null : { error: 'no' };
    expect(await run('/status')).toEqual({ ...failed(errorMessage, status), responseData });
  });

  test('a 204 is a success without data', async () => {
    server.on('/none', (_request, response) => void response.writeHead(204).end());
    expect(await run('/none', { method: 'DELETE' })).toMatchObject({
      success: true,
      statusCode: 204,
      responseData: null,
    });
  });

  test('invalid inputs are a failure with the reasons, and nothing is sent', async () => {
    const before = server.received.length;
    const inputSchema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    expect(await run('/x/{{input.n}}', { inputSchema }, { n: 'x', m: 1 })).toEqual(
      failed('The inputs do not fit the tool: m is not a known field; n must be integer.'),
    );
    expect(await run('/x/{{input.n}}', {}, {})).toEqual(
      failed('{{input.n}} must have a value, since the path needs it.'),
    );
    expect(await run('/x', { headers: { a: '{{input.n}}' } }, { n: 'a\r\nb: c' })).toEqual(
      failed('The header a must not have line breaks or control characters.'),
    );
    expect(server.received).toHaveLength(before);
  });

  test('inputs that take too long to validate are a failure', async () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'string', pattern: '^(a+)+$' } } };
    expect(await run('/x', { inputSchema }, { n: `${'a'.repeat(60)}!` })).toMatchObject({ success: false });
  });

  test('a response over 1 MiB is a failure', async () => {
    server.on('/large', answering(Buffer.alloc(1_048_577, 'x'), 'text/plain'));
    expect(await run('/large')).toEqual(failed(expect.stringMatching(/larger than 1048576 bytes/)));
  });

  test('a server that does not respond in time is a failure', async () => {
    server.on('/never', () => undefined);
    const result = await run('/never', { timeoutSeconds: 1 });
    expect(result).toEqual(failed(expect.stringMatching(/did not answer completely within 1000 ms/)));
    expect(result.executionTimeMs).toBeGreaterThanOrEqual(990);
  });

  test('a server that cannot be reached is a failure', async () => {
    const gone = await startToolServer();
    await gone.close();
    const { publicId } = await makeTool(app, { configuration: { url: gone.origin } });
    expect(await tryTool(app, publicId)).toEqual(failed(expect.stringMatching(/refused the connection/)));
  });

  test('redirects are followed, and no secret is sent to another origin', async () => {
    server.on('/here', (_request, response) => void response.writeHead(302, { location: '/there' }).end());
    server.on(
      '/there',
      (_request, response) => void response.writeHead(307, { location: `${other.origin}/end` }).end(),
    );
    const headers = { 'X-Key': '{{secret.key}}' };
    const result = await run('/here', { headers, secrets: { key: 'sk_redirected' } });
    expect(result).toMatchObject({ success: true, statusCode: 200 });
    expect(lastReceived()?.headers['x-key']).toBe('sk_redirected');
    expect(JSON.stringify(other.received)).not.toContain('sk_redirected');
  });

  test('a body with a secret is not sent to the target of a redirect', async () => {
    server.on(
      '/moved',
      (_request, response) => void response.writeHead(307, { location: `${other.origin}/steal` }).end(),
    );
    const configuration = { method: 'POST', body: { key: '{{secret.key}}' }, secrets: { key: 'sk_in_body' } };
    expect(await run('/moved', configuration)).toEqual(
      failed(expect.stringMatching(/redirects, which is not followed for this request\.$/)),
    );
    expect(JSON.stringify(other.received)).not.toContain('sk_in_body');
  });
});

describe('200 and secrets', () => {
  test('secrets in the response are hidden', async () => {
    const token = 'st/live"+7Qm2';
    server.on('/leak', (received, response) => {
      const { authorization = '' } = received.headers;
      const leak = { authorization, url: received.url, [authorization]: [Buffer.from(token).toString('base64')] };
      response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(leak));
    });
    const configuration = {
      headers: { Authorization: '{{secret.token}}' },
      query: { key: '{{secret.token}}' },
      secrets: { token },
    };
    expect((await run('/leak', configuration)).responseData).toEqual({
      authorization: '********',
      url: '/leak?key=********',
      '********': ['********'],
    });
  });

  test('errors do not show a secret address', async () => {
    const { publicId } = await makeTool(app, {
      configuration: { url: '{{secret.hook}}', secrets: { hook: 'http://hidden-host.invalid/services/T00B11' } },
    });
    const { success, errorMessage } = await tryTool(app, publicId);
    expect(success).toBe(false);
    expect(errorMessage).not.toContain('hidden-host');
  });

  test('secrets of another row cannot be decrypted', async () => {
    const secretTool = () =>
      makeTool(app, {
        configuration: { url: `${server.origin}/echo`, headers: { a: '{{secret.a}}' }, secrets: { a: newId() } },
      });
    const [one, two] = [await secretTool(), await secretTool()];
    const { db, workspaceId } = app.workspace;
    const tools = db.updateTable('http_tools').where('workspace_id', '=', workspaceId);
    const { secrets } = await db
      .selectFrom('http_tools')
      .select('secrets')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', one.publicId)
      .executeTakeFirstOrThrow();
    await tools.set({ secrets }).where('id', '=', two.publicId).execute();
    expect(await tryTool(app, two.publicId)).toEqual(
      failed('The secrets of the tool cannot be read any more. Write them again.'),
    );
    const configuration = { ...two.configuration, secrets: { a: 'written-again' } };
    await app.api('patch', `/http-tools/${two.publicId}`).send({ configuration });
    expect(await tryTool(app, two.publicId)).toMatchObject({ success: true });
  });
});

describe('200 of a DATABASE_QUERY', () => {
  const query = "select :n::int as n, current_setting('transaction_read_only') as read_only";

  test('the field rows has the rows, and further ones are cut off', async () => {
    const tool = (sql: string) =>
      makeTool(app, {
        toolType: 'DATABASE_QUERY',
        configuration: { connection: app.database.url, query: sql, maxRows: 2 },
      });
    const one = await tool(query);
    expect(await tryTool(app, one.publicId, { n: 7 })).toMatchObject({
      success: true,
      statusCode: null,
      responseData: { rows: [{ n: 7, read_only: 'on' }] },
    });
    const many = await tool('select * from generate_series(1, 3) as n');
    expect((await tryTool(app, many.publicId)).responseData).toEqual({ rows: [{ n: 1 }, { n: 2 }], truncated: true });
  });

  test("the error is the database's message, without its address", async () => {
    const { publicId } = await makeTool(app, {
      toolType: 'DATABASE_QUERY',
      configuration: { connection: app.database.url, query: 'select no_such_column' },
    });
    const result = await tryTool(app, publicId);
    expect(result).toEqual(failed(expect.stringMatching(/no_such_column/)));
  });

  test('the error about a connection that fails does not show its secrets', async () => {
    const { publicId } = await makeTool(app, {
      toolType: 'DATABASE_QUERY',
      configuration: { connection: `${app.database.url}?sslmode=require`, query: 'select 1' },
    });
    const result = await tryTool(app, publicId);
    expect(result).toEqual(failed('The database does not offer TLS, which the connection asks for.'));
  });
});

describe('200 of an INTERNAL_VARIABLE', () => {
  const variable = { name: 'counter', type: 'number', scope: 'workspace', defaultValue: 1, writable: true };
  const makeVariable = (fields: object = {}) =>
    makeTool(app, { toolType: 'INTERNAL_VARIABLE', configuration: { ...variable, ...fields } });

  test('without a value it is read, with one it is written', async () => {
    const { publicId } = await makeVariable();
    expect((await tryTool(app, publicId)).responseData).toEqual({ value: 1 });
    expect((await tryTool(app, publicId, { value: 5 })).responseData).toEqual({ value: 5 });
    expect((await tryTool(app, publicId)).responseData).toEqual({ value: 5 });
  });

  test.each([
    ['another type', {}, { value: 'five' }],
    ['null', {}, { value: null }],
    ['one that is not writable', { writable: false }, { value: 5 }],
    ['an unknown field', {}, { values: 5 }],
  ])('%s is a failure and does not change the value', async (_what, fields, inputs) => {
    const { publicId } = await makeVariable(fields);
    expect(await tryTool(app, publicId, inputs)).toEqual(failed(expect.any(String)));
    expect((await tryTool(app, publicId)).responseData).toEqual({ value: 1 });
  });
});

describe('200 of a CUSTOM_INTEGRATION', () => {
  const openapi = () => ({
    openapi: '3.0.3',
    servers: [{ url: `${server.origin}/v2` }],
    paths: {
      '/parcels/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        get: {
          operationId: 'trackParcel',
          parameters: [
            { name: 'expand', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          ],
        },
        post: {
          operationId: 'bookPickup',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pickup' } } },
          },
        },
      },
    },
    components: { schemas: { Pickup: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } } },
  });
  const integration = (more: object = {}) =>
    makeTool(app, {
      toolType: 'CUSTOM_INTEGRATION',
      configuration: { openapi: openapi(), operations: ['trackParcel', 'bookPickup'], ...more },
    });

  test('an endpoint is called with its parameters and credentials', async () => {
    const auth = { type: 'header', headerName: 'X-Parcel-Key', secret: 'pk_live_93Lx' };
    const { publicId } = await integration({ auth });
    const inputs = { operationId: 'trackParcel', id: 'P/1', expand: ['a', 'b'], 'X-Trace': 't' };
    const result = await tryTool(app, publicId, inputs);
    expect(result).toMatchObject({ success: true, statusCode: 200 });
    expect(lastReceived()).toMatchObject({
      method: 'GET',
      url: '/v2/parcels/P%2F1?expand=a&expand=b',
      headers: { 'x-parcel-key': 'pk_live_93Lx', 'x-trace': 't' },
      body: '',
    });
    expect(JSON.stringify(result)).not.toContain('pk_live_93Lx');
  });

  test('a body is sent as JSON with a bearer token to the baseUrl', async () => {
    const { publicId } = await integration({
      auth: { type: 'bearer', secret: 'tok_1' },
      baseUrl: `${other.origin}/v3/`,
    });
    const inputs = { operationId: 'bookPickup', id: '1', body: { day: 'Monday' } };
    expect(await tryTool(app, publicId, inputs)).toMatchObject({ success: true });
    expect(other.received.at(-1)).toMatchObject({
      method: 'POST',
      url: '/v3/parcels/1',
      headers: { authorization: 'Bearer tok_1', 'content-type': 'application/json' },
      body: '{"day":"Monday"}',
    });
  });

  test('the only endpoint need not be named', async () => {
    const { publicId } = await integration({ operations: ['trackParcel'] });
    expect(await tryTool(app, publicId, { id: '1' })).toMatchObject({ success: true });
    expect(await tryTool(app, publicId, { id: '1', operationId: 'trackParcel' })).toMatchObject({ success: true });
  });

  test.each([
    [{ id: '1' }, 'operationId is needed: one of trackParcel, bookPickup.'],
    [{ id: '1', operationId: 'deleteAll' }, 'operationId must be one of trackParcel, bookPickup.'],
    [{ id: '1', operationId: 7 }, 'operationId must be one of trackParcel, bookPickup.'],
    [{ operationId: 'trackParcel' }, 'The inputs do not fit the tool: id is required.'],
    [{ operationId: 'trackParcel', id: '1', more: 1 }, 'The inputs do not fit the tool: more is not a known field.'],
    [{ operationId: 'bookPickup', id: '1', body: {} }, 'The inputs do not fit the tool: body/day is required.'],
    [{ operationId: 'trackParcel', id: '..' }, 'A segment of the path must not be . or ..'],
  ])('%j is a failure and nothing is sent', async (inputs, message) => {
    const before = server.received.length;
    const { publicId } = await integration();
    expect(await tryTool(app, publicId, inputs)).toEqual(failed(message));
    expect(server.received).toHaveLength(before);
  });
});

describe('200 where private networks are not allowed', () => {
  let strict: TestApp;
  beforeAll(async () => {
    strict = await startTestApp();
  });
  afterAll(() => strict.close());

  test.each([
    'http://127.0.0.1:PORT/',
    'http://localhost:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://169.254.169.254/',
  ])('%s is not called', async (url) => {
    const before = server.received.length;
    const { publicId } = await makeTool(strict, {
      configuration: { url: url.replace('PORT', new URL(server.origin).port) },
    });
    expect(await tryTool(strict, publicId)).toMatchObject({ success: false, statusCode: null });
    expect(server.received).toHaveLength(before);
  });

  test('an input cannot lead to a private address', async () => {
    const before = server.received.length;
    const { publicId } = await makeTool(strict, { configuration: { url: '{{input.url}}' } });
    expect(await tryTool(strict, publicId, { url: server.origin })).toMatchObject({ success: false });
    expect(server.received).toHaveLength(before);
  });

  test('a database and an API at a private address are not reached', async () => {
    const query = await makeTool(strict, {
      toolType: 'DATABASE_QUERY',
      configuration: { connection: strict.database.url, query: 'select 1' },
    });
    expect(await tryTool(strict, query.publicId)).toMatchObject({ success: false });
    const openapi = { openapi: '3.1.0', paths: { '/': { get: { operationId: 'a' } } } };
    const api = await makeTool(strict, {
      toolType: 'CUSTOM_INTEGRATION',
      configuration: { openapi, baseUrl: server.origin, operations: ['a'] },
    });
    const before = server.received.length;
    expect(await tryTool(strict, api.publicId)).toMatchObject({ success: false });
    expect(server.received).toHaveLength(before);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([{}, { inputs: null }, { inputs: [] }, { inputs: {}, more: 1 }])('refuses %j', async (body) => {
    const { publicId } = await makeTool(app);
    const answer = await app.api('post', `/http-tools/${publicId}/test`).send(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('404 HTTP_TOOL_NOT_FOUND', () => {
  test("a deleted tool and another workspace's are treated as one that does not exist", async () => {
    const ask = (id: string) => app.api('post', `/http-tools/${id}/test`).send({ inputs: {} });
    expect(await answersForMissing(app, ask)).toEqual(allNotFound);
  });
});
