// Long: one line for each fault that a configuration can have.
import { isUuid } from '../../../core/ids.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { exampleRequest } from '../../support/http/exampleRequest.ts';
import { trustedCertificate } from '../../support/servers/tls.ts';
import { answering, makeTool, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';

let app: TestApp;
let server: ToolServer;
let certificate: Awaited<ReturnType<typeof trustedCertificate>>;
beforeAll(async () => {
  certificate = await trustedCertificate();
  server = await startToolServer(certificate);
  app = await startTestApp({ allowPrivateNetwork: true });
});
afterAll(async () => {
  certificate.forget();
  await Promise.all([app.close(), server.close()]);
});

const create = (body: object, key?: string) => app.api('post', '/http-tools', key).send(body);
const request = { toolType: 'HTTP_REQUEST', configuration: { url: 'https://api.example.com' } };
const DOCUMENT = {
  openapi: '3.0.3',
  servers: [{ url: 'https://parcels.example.com/v2' }],
  paths: {
    '/parcels/{id}': {
      get: {
        operationId: 'trackParcel',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
  },
};

/** Expects this status and code, and that nothing was written. */
async function expectRefused(body: object, status: number, code: string) {
  const before = await tableContents(app.database.name);
  const answer = await create(body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await tableContents(app.database.name)).toEqual(before);
  return answer.body;
}

describe('201', () => {
  test('the response is the tool as it was sent, with its secrets hidden', async () => {
    const sent = exampleRequest('createTool').body as { configuration: object };
    const { status, body } = await create(sent);
    expect(status).toBe(201);
    const now = app.clock.now().toISOString();
    const configuration = { ...sent.configuration, secrets: { shopToken: '********' } };
    expect(body).toEqual({
      ...sent,
      configuration,
      publicId: expect.any(String),
      createdBy: { publicId: null, name: 'API Key' },
      createdAt: now,
      updatedAt: now,
    });
    expect(isUuid(body.publicId)).toBe(true);
    expect((await app.api('get', `/http-tools/${body.publicId}`)).body).toEqual(body);
  });

  test('optional fields have their defaults', async () => {
    const { status, body } = await create({ name: 'least', ...request });
    expect(status).toBe(201);
    expect(body).toMatchObject({ description: null, requiresApproval: false, configuration: request.configuration });
  });

  test('fields of an inputSchema keep their order, since models fill them in that order', async () => {
    const properties = { zebra: {}, a: {}, mn: {} };
    const configuration = { ...request.configuration, inputSchema: { type: 'object', properties } };
    const { publicId } = await makeTool(app, { configuration });
    const { body } = await app.api('get', `/http-tools/${publicId}`);
    expect(Object.keys(body.configuration.inputSchema.properties)).toEqual(['zebra', 'a', 'mn']);
  });

  test.each([
    [
      'DATABASE_QUERY',
      { connection: 'postgres://reader:hunter22@db.example.com/shop', query: 'select 1' },
      { connection: '********' },
    ],
    ['INTERNAL_VARIABLE', { name: 'language', type: 'string', scope: 'workspace' }, {}],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'bearer', secret: 'pk_live_93Lx' } },
      { auth: { type: 'bearer', secret: '********' } },
    ],
  ])('%s', async (toolType, configuration, hidden) => {
    const { status, body } = await create({ name: toolType, toolType, configuration });
    expect(status).toBe(201);
    expect(body).toMatchObject({ toolType, configuration: { ...configuration, ...hidden } });
    expect(body.configuration).toEqual({ ...configuration, ...hidden });
  });

  test('a document behind an address is imported, and the configuration keeps the address', async () => {
    server.on('/openapi.json', answering(JSON.stringify(DOCUMENT)));
    const configuration = { openapi: `${server.origin}/openapi.json`, operations: ['trackParcel'] };
    const { status, body } = await create({ name: 'imported', toolType: 'CUSTOM_INTEGRATION', configuration });
    expect(status).toBe(201);
    expect(body.configuration).toEqual(configuration);
  });

  test('secrets are stored encrypted, bound to their row', async () => {
    const { publicId } = await makeTool(app, {
      configuration: { url: 'https://api.example.com', secrets: { token: 'st_live_plaintext' } },
    });
    const { db, workspaceId } = app.workspace;
    const row = await db
      .selectFrom('http_tools')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', publicId)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify({ ...row, secrets: null })).not.toContain('st_live_plaintext');
    expect(row.secrets?.toString('latin1')).not.toContain('st_live_plaintext');
    const { secrets } = app.service.runtime;
    const place = { workspaceId, table: 'http_tools', rowId: publicId, column: 'secrets' };
    expect(secrets.open(row.secrets as Buffer, place)).toBe('{"/secrets/token":"st_live_plaintext"}');
    const other = await makeTool(app);
    expect(() => secrets.open(row.secrets as Buffer, { ...place, rowId: other.publicId })).toThrow();
  });

  test('workspaces do not share names', async () => {
    const body = { name: 'same', ...request };
    expect((await create(body)).status).toBe(201);
    expect((await create(body, app.stranger.apiKey)).status).toBe(201);
  });

  test('the name of a deleted tool is free', async () => {
    const tool = await makeTool(app);
    expect((await app.api('delete', `/http-tools/${tool.publicId}`)).status).toBe(204);
    expect((await create({ name: tool.name, ...request })).status).toBe(201);
  });
});

describe('400 VALIDATION_ERROR', () => {
  test.each([
    ['no name', { ...request }],
    ['an empty name', { ...request, name: '' }],
    ['a name with a blank', { ...request, name: 'get order' }],
    ['a name with a line break at its end', { ...request, name: 'get_order\n' }],
    ['a name of 151 characters', { ...request, name: 'x'.repeat(151) }],
    ['a description of 1001 characters', { ...request, name: 'a', description: 'x'.repeat(1001) }],
    ['an unknown type', { ...request, name: 'a', toolType: 'SHELL' }],
    ['no configuration', { name: 'a', toolType: 'HTTP_REQUEST' }],
    ['a configuration that is a list', { name: 'a', toolType: 'HTTP_REQUEST', configuration: [] }],
    ['an unknown field', { ...request, name: 'a', publicId: 'x' }],
  ])('refuses %s', async (_what, body) => {
    await expectRefused(body, 400, 'VALIDATION_ERROR');
  });
});

describe('409 HTTP_TOOL_NAME_TAKEN', () => {
  test('a name is taken once in a workspace', async () => {
    const { name } = await makeTool(app);
    await expectRefused(
      { name, toolType: 'INTERNAL_VARIABLE', configuration: { name: 'a', type: 'string', scope: 'workspace' } },
      409,
      'HTTP_TOOL_NAME_TAKEN',
    );
  });

  test('of several at the same time one gets the name', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => create({ name: 'race', ...request })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });
});

describe('422 INVALID_TOOL_TYPE', () => {
  test('tools of partners cannot be created, whatever their configuration', async () => {
    await expectRefused({ name: 'a', toolType: 'PARTNER_MCP', configuration: {} }, 422, 'INVALID_TOOL_TYPE');
  });
});

describe('422 INVALID_TOOL_CONFIGURATION', () => {
  test('every fault is listed with its path', async () => {
    const configuration = {
      url: 'ftp://x',
      secrets: { a: '********' },
      headers: { 'a/b c': '{{secret.no}}' },
      more: 1,
    };
    const { details } = await expectRefused(
      { name: 'a', toolType: 'HTTP_REQUEST', configuration },
      422,
      'INVALID_TOOL_CONFIGURATION',
    );
    const at = details.map(({ path }: { path: string }) => path.slice('/body/configuration'.length));
    expect(at.sort()).toEqual(['/headers/a~1b c', '/headers/a~1b c', '/more', '/secrets/a', '/url']);
  });

  test.each([
    ['DATABASE_QUERY', { connection: 'postgres://a:b@c/d', query: 'update orders set a = 1' }, ['/query']],
    ['INTERNAL_VARIABLE', { name: 'a', type: 'number', scope: 'workspace', defaultValue: 'x' }, ['/defaultValue']],
    ['CUSTOM_INTEGRATION', {}, ['/openapi', '/operations']],
    ['CUSTOM_INTEGRATION', { openapi: DOCUMENT, operations: [] }, ['/operations']],
    ['CUSTOM_INTEGRATION', { openapi: DOCUMENT, operations: ['trackParcel', 'trackParcel'] }, ['/operations']],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['no', 'trackParcel', 'nor'] },
      ['/operations/0', '/operations/2'],
    ],
    ['CUSTOM_INTEGRATION', { openapi: 'http://parcels.example.com/openapi.json', operations: ['a'] }, ['/openapi']],
    [
      'CUSTOM_INTEGRATION',
      { openapi: 'https://me:pass@parcels.example.com/openapi.json', operations: ['a'] },
      ['/openapi'],
    ],
    ['CUSTOM_INTEGRATION', { openapi: { swagger: '1.2' }, operations: ['a'] }, ['/openapi/openapi']],
    ['CUSTOM_INTEGRATION', { openapi: { ...DOCUMENT, servers: [] }, operations: ['trackParcel'] }, ['/baseUrl']],
    [
      'CUSTOM_INTEGRATION',
      { openapi: { ...DOCUMENT, info: { title: 'x'.repeat(524_288) } }, operations: ['trackParcel'] },
      ['/openapi'],
    ],
    ['CUSTOM_INTEGRATION', { openapi: DOCUMENT, operations: ['trackParcel'], baseUrl: 'ftp://a' }, ['/baseUrl']],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], baseUrl: 'https://a.example/?b=c' },
      ['/baseUrl'],
    ],
    ['CUSTOM_INTEGRATION', { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'basic' } }, ['/auth/type']],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { secret: 'abc' } },
      ['/auth/secret'],
    ],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'bearer' } },
      ['/auth/secret'],
    ],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'bearer', headerName: 'A', secret: 'a\nb' } },
      ['/auth/headerName', '/auth/secret'],
    ],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'header', secret: 'abc' } },
      ['/auth/headerName'],
    ],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'header', headerName: 'Host', secret: 'abc' } },
      ['/auth/headerName'],
    ],
    [
      'CUSTOM_INTEGRATION',
      { openapi: DOCUMENT, operations: ['trackParcel'], auth: { type: 'bearer', secret: '********' } },
      ['/auth/secret'],
    ],
  ])('%s %j', async (toolType, configuration, places) => {
    const { details } = await expectRefused({ name: 'a', toolType, configuration }, 422, 'INVALID_TOOL_CONFIGURATION');
    expect(details.map(({ path }: { path: string }) => path.slice('/body/configuration'.length)).sort()).toEqual(
      places,
    );
  });

  test('the message names the place of a fault in a document behind an address', async () => {
    server.on('/bad.json', answering(JSON.stringify({ ...DOCUMENT, servers: [{ url: 'ftp://x' }] })));
    const configuration = { openapi: `${server.origin}/bad.json`, operations: ['trackParcel'] };
    const { details } = await expectRefused(
      { name: 'a', toolType: 'CUSTOM_INTEGRATION', configuration },
      422,
      'INVALID_TOOL_CONFIGURATION',
    );
    expect(details).toMatchObject([
      { path: '/body/configuration/openapi', message: expect.stringMatching(/^#\/servers\/0\/url /) },
    ]);
  });
});

describe('422 HTTP_TOOL_LIMIT_REACHED', () => {
  const limit = (workspaceId: string, tool_limit: number | null) =>
    app.database.database.system.updateTable('workspaces').set({ tool_limit }).where('id', '=', workspaceId).execute();

  test('of several requests at the same time only as many succeed as the limit allows', async () => {
    const { workspaceId, apiKey, db } = await app.database.seedWorkspace();
    await limit(workspaceId, 2);
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => create({ name: `t${n}`, ...request }, apiKey)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body.code).toBe('HTTP_TOOL_LIMIT_REACHED');
    const stored = await db.selectFrom('http_tools').select('id').where('workspace_id', '=', workspaceId).execute();
    expect(stored).toHaveLength(2);
  });

  test('a deleted tool makes room, and other workspaces do not count', async () => {
    const { workspaceId, apiKey } = await app.database.seedWorkspace();
    await limit(workspaceId, 1);
    const first = await makeTool(app, {}, apiKey);
    expect((await create({ name: 'second', ...request }, apiKey)).status).toBe(422);
    await app.api('delete', `/http-tools/${first.publicId}`, apiKey);
    expect((await create({ name: 'second', ...request }, apiKey)).status).toBe(201);
  });

  test('a workspace without a limit takes more', async () => {
    const { workspaceId, apiKey } = await app.database.seedWorkspace();
    await limit(workspaceId, null);
    expect((await create({ name: 'one', ...request }, apiKey)).status).toBe(201);
  });
});
