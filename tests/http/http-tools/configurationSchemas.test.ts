import { namedSchemas } from '../../../core/namedSchemas.ts';
import { tableContents } from '../../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type Edge, type EdgeParts, schemaEdges } from '../../support/http/schemaEdges.ts';

/** Every keyword of the schemas of configurations is tried: accepted at its edge, refused beyond it. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: false });
});
afterAll(() => app.close());

const url = (length: number) => 'https://a.example/'.padEnd(length, 'x').slice(0, length);
const inputSchema = (length: number) => {
  const sized = (description: string) => ({ type: 'object', properties: {}, description });
  return sized('x'.repeat(length - JSON.stringify(sized('')).length));
};
const ids = Array.from({ length: 100 }, (_, i) => (i === 0 ? 'track' : `track${i}`));
const openapi = {
  openapi: '3.1.0',
  info: { title: 'Parcels', version: '1.0.0' },
  paths: Object.fromEntries(
    [...ids, 'x', 'x'.repeat(200)].map((operationId) => [`/${operationId}`, { get: { operationId, responses: {} } }]),
  ),
};
const integration = {
  openapi,
  baseUrl: 'https://parcels.example.com',
  operations: ['track'],
  auth: { type: 'header', headerName: 'X-Parcel-Key', secret: 'abc' },
};
const variable = { name: 'language', type: 'string', defaultValue: 'en', scope: 'workspace', writable: true };

const PARTS: Record<string, EdgeParts> = {
  HTTP_REQUEST: {
    valid: {
      method: 'POST',
      url: url(20),
      headers: { 'X-A': 'a' },
      query: { b: 'b' },
      body: { c: 'c' },
      inputSchema: inputSchema(100),
      timeoutSeconds: 10,
      secrets: { d: 'abcd' },
    },
    texts: { url },
    documents: { inputSchema },
    unlike: { 'secrets/*': 'a b' },
    // The shortest address that the schema takes is none.
    around: { url: (value) => (String(value).length < 20 ? undefined : { url: value }) },
  },
  DATABASE_QUERY: {
    valid: {
      connection: 'postgres://reader:secret@db.example.com/shop',
      query: 'select 1',
      inputSchema: inputSchema(100),
      maxRows: 10,
      timeoutSeconds: 10,
    },
    texts: {
      connection: (length) => 'postgres://reader:secret@db.example.com/'.padEnd(length, 'x').slice(0, length),
      query: (length) => 'select '.padEnd(length, '1').slice(0, length),
    },
    documents: { inputSchema },
    around: {
      connection: (connection) => (String(connection).length < 40 ? undefined : { connection, query: 'select 1' }),
      query: (query) =>
        String(query).length < 8 ? undefined : { connection: 'postgres://reader:secret@db.example.com/shop', query },
    },
  },
  INTERNAL_VARIABLE: {
    valid: variable,
    documents: { defaultValue: (length) => 'x'.repeat(length - 2) },
    around: { type: (type) => ({ ...variable, type, defaultValue: null }) },
  },
  CUSTOM_INTEGRATION: {
    valid: integration,
    texts: { baseUrl: url, openapi: url },
    documents: {
      openapi: (length) => {
        // With the listed operation alone: of a longer document the others would be left out before it is measured.
        const paths = { '/track': { get: { operationId: 'track' } } };
        const sized = (description: string) => ({ ...openapi, info: { ...openapi.info, description }, paths });
        return sized('x'.repeat(length - JSON.stringify(sized('')).length));
      },
    },
    around: {
      baseUrl: (baseUrl) => (String(baseUrl).length < 20 ? undefined : { ...integration, baseUrl }),
      // An address of this length is accepted by the schema, and cannot be fetched.
      openapi: (value) => (typeof value === 'string' ? undefined : { ...integration, openapi: value }),
      'auth/type': (type) => ({
        ...integration,
        auth: {
          type,
          ...(type === 'header' && { headerName: 'X-Key' }),
          ...(type !== 'none' && { secret: 'abc' }),
        },
      }),
    },
  },
};

test('every schema that the document names is tried', () => {
  expect(Object.keys(PARTS)).toEqual([...namedSchemas('HttpToolConfiguration').mapping.keys()]);
});

let made = 0;
const create = (toolType: string, { form: configuration }: Edge) =>
  app.api('post', '/http-tools').send({ name: `edge_${++made}`, toolType, configuration });

describe.each(Object.entries(PARTS))('%s', (toolType, parts) => {
  const schema = namedSchemas('HttpToolConfiguration').mapping.get(toolType);
  if (!schema) throw new Error(toolType);
  const edges = schemaEdges(schema, parts);
  const allowed = edges.filter(({ isAllowed }) => isAllowed);
  const beyond = edges.filter(({ isAllowed }) => !isAllowed);

  test.each(allowed.map((edge) => [edge.what, edge] as const))('accepts %s', async (_what, edge) => {
    const { status, body } = await create(toolType, edge);
    expect([status, body.details]).toEqual([201, undefined]);
    await app.api('delete', `/http-tools/${body.publicId}`).expect(204);
  });

  test.each(beyond.map((edge) => [edge.what, edge] as const))('refuses %s', async (_what, edge) => {
    const { status, body } = await create(toolType, edge);
    expect([status, body.code]).toEqual([422, 'INVALID_TOOL_CONFIGURATION']);
    const paths = body.details.map(({ path }: { path: string }) => path);
    expect(paths).toContain(`/body/configuration${edge.pointer}`);
  });

  test('nothing of what is refused is stored', async () => {
    const before = await tableContents(app.database.name);
    await Promise.all(beyond.slice(0, 5).map((edge) => create(toolType, edge)));
    expect(await tableContents(app.database.name)).toEqual(before);
    expect((await app.api('get', '/http-tools')).body.total).toBe(0);
  });
});
