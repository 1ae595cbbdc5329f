// Long: documents of many megabytes are read.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiDocument } from '../../../../runtime/tools/openapi/documentText.ts';
import { importDocument } from '../../../../runtime/tools/openapi/importDocument.ts';
import type { ImportResult } from '../../../../runtime/tools/openapi/importRequest.ts';
import { pickOperations } from '../../../../runtime/tools/openapi/pick.ts';
import { readers } from '../../../../runtime/tools/openapi/readers.ts';
import { shrinkBody } from '../../../../runtime/tools/openapi/shrink.ts';
import { apiDocument } from '../../../support/apiDocuments/apiDocuments.ts';
import { trustedCertificate } from '../../../support/servers/tls.ts';
import { answering, startToolServer, type ToolServer } from '../../../support/tools/httpTools.ts';
import { documentOf, faultsOf, imported, importFrom } from '../../../support/tools/openapiDocuments.ts';

const withBody = (schema: object, more: object = {}) =>
  documentOf({ requestBody: { required: true, content: { 'application/json': { schema } } } }, more);
const bytesOf = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
/** Imports what a thread reads, as it does from an address. */
const read = (bytes: Uint8Array, wanted = ['op'], workspaceId = 'a') =>
  readers.run(workspaceId, {
    source: { bytes, address: 'https://api.example.com/openapi' },
    wanted,
    baseUrl: undefined,
    authHeader: undefined,
  }) as Promise<ImportResult>;

describe('references', () => {
  test('a chain of 10,000 schemas is followed as far as a model reads it', () => {
    const schemas: Record<string, object> = { S10000: { type: 'string' } };
    for (let count = 0; count < 10_000; count += 1)
      schemas[`S${count}`] = { $ref: `#/components/schemas/S${count + 1}` };
    const { inputSchema } = imported(withBody({ $ref: '#/components/schemas/S0' }, { components: { schemas } }));
    expect(JSON.stringify(inputSchema).length).toBeLessThan(10_000);
  });

  test('a chain of 10,000 parameters, and one that never ends, are refused', () => {
    const parameters: Record<string, object> = { P10000: { name: 'a', in: 'query' } };
    for (let count = 0; count < 10_000; count += 1)
      parameters[`P${count}`] = { $ref: `#/components/parameters/P${count + 1}` };
    const operation = { parameters: [{ $ref: '#/components/parameters/P0' }] };
    expect(faultsOf(documentOf(operation, { components: { parameters } }))).toHaveLength(1);
    const circle = { P0: { $ref: '#/components/parameters/P1' }, P1: { $ref: '#/components/parameters/P0' } };
    expect(faultsOf(documentOf(operation, { components: { parameters: circle } }))).toHaveLength(1);
  });

  test('schemas that refer to each other in all ways give a schema of bounded size', () => {
    const names = Array.from({ length: 40 }, (_, n) => `N${n}`);
    const all = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
    const schemas = Object.fromEntries(
      names.map((name) => [
        name,
        { type: 'object', description: 'x'.repeat(300), properties: all, allOf: Object.values(all) },
      ]),
    );
    const { inputSchema } = imported(withBody({ $ref: '#/components/schemas/N0' }, { components: { schemas } }));
    expect(JSON.stringify(inputSchema).length).toBeLessThan(10_000);
  });

  test('a schema without references that nests objects is cut to the names of their fields', () => {
    const nested = (level: number): object => ({
      type: 'object',
      description: 'Level of the settings.',
      properties: Object.fromEntries(
        Array.from({ length: 5 }, (_, n) => [`field_${n}`, level === 0 ? { type: 'string' } : nested(level - 1)]),
      ),
      required: ['field_1'],
    });
    const { body } = imported(withBody(nested(4))).inputSchema.properties as {
      body: { properties: Record<string, never> };
    };
    expect(body.properties.field_0).toMatchObject({ properties: { field_1: { type: 'object' } } });
    expect(JSON.stringify(body)).toContain('Fields: field_0, field_1 (required), field_2, field_3, field_4.');
    expect(JSON.stringify(body).length).toBeLessThan(10_000);
  });

  let server: ToolServer;
  let certificate: Awaited<ReturnType<typeof trustedCertificate>>;
  beforeAll(async () => {
    certificate = await trustedCertificate();
    server = await startToolServer(certificate);
  });
  afterAll(async () => {
    certificate.forget();
    await server.close();
  });

  test('to other documents are refused and never fetched', async () => {
    const elsewhere = { $ref: `${server.origin}/schema.json` };
    const documents = [
      withBody(elsewhere),
      documentOf({ parameters: [elsewhere] }),
      documentOf({ requestBody: elsewhere }),
      documentOf({}, { paths: { '/a': elsewhere } }),
    ];
    for (const [index, document] of documents.entries()) {
      server.on(`/${index}.json`, answering(JSON.stringify(document)));
      const { faults } = await importDocument({
        openapi: `${server.origin}/${index}.json`,
        wanted: ['op'],
        baseUrl: undefined,
        authHeader: undefined,
        allowPrivateNetwork: true,
        workspaceId: 'a',
      });
      expect(faults).toHaveLength(1);
    }
    expect(server.received.map(({ url }) => url)).toEqual(['/0.json', '/1.json', '/2.json', '/3.json']);
  });
});

describe('size', () => {
  test('8 MB of one string are read where nobody needs them, cut where they are a text, and refused where they are sent', async () => {
    const long = 'x'.repeat(8_000_000);
    expect(await read(bytesOf({ ...documentOf(), 'x-a': long }))).toMatchObject({ faults: [], endpoints: [{}] });
    const { endpoints } = await read(
      bytesOf(
        documentOf({
          description: long,
          parameters: [{ name: 'a', in: 'query', description: long, schema: { title: long, example: long } }],
        }),
      ),
    );
    expect(JSON.stringify(endpoints).length).toBeLessThan(3_000);
    for (const operation of [
      { parameters: [{ name: long, in: 'query' }] },
      { parameters: [{ name: 'a', in: 'query', schema: { default: long } }] },
      { parameters: [{ name: 'a', in: 'query', required: true, schema: { enum: [long] } }] },
      { requestBody: { content: { 'application/json': { schema: { properties: { [long]: {} } } } } } },
    ]) {
      expect((await read(bytesOf(documentOf(operation)))).faults).toHaveLength(1);
    }
    expect(
      (await read(bytesOf(documentOf({}, { paths: { [`/${long}`]: { get: { operationId: 'op' } } } })))).faults,
    ).toMatchObject([{ field: 'operations' }]);
  });

  test('more values or levels than any document has are refused before they are parsed', async () => {
    const many = Buffer.from(`{"openapi":"3.1.0","x":[${'0,'.repeat(1_500_000)}0]}`);
    expect(await readApiDocument(many)).toEqual({ problem: 'must not have more than 1500000 values' });
    const deep = Buffer.from(`{"x":${'['.repeat(10_000_000)}`);
    expect(await readApiDocument(deep)).toEqual({ problem: 'must not nest that deeply' });
  });

  test.each([
    [
      'lists',
      'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\n',
      (n: number) => `l${n}: &l${n} [*l${n - 1}, *l${n - 1}]`,
      'l0: &l0 [x]',
    ],
    ['maps', '', (n: number) => `l${n}: &l${n} {a: *l${n - 1}, b: *l${n - 1}}`, 'l0: &l0 {a: 1}'],
    ['merged maps', '', (n: number) => `l${n}: &l${n}\n  <<: *l${n - 1}\n  a${n}: *l${n - 1}`, 'l0: &l0 {a: 1}'],
  ])('YAML whose aliases double 60 times is refused: %s', async (_what, before, line, first) => {
    const lines = [before, first, ...Array.from({ length: 60 }, (_, n) => line(n + 1))];
    expect(await readApiDocument(bytesOf(lines.join('\n')))).toMatchObject({ problem: expect.any(String) });
  });

  test('YAML that contains itself, and keys of objects that reach into prototypes, do no harm', async () => {
    expect(await readApiDocument(bytesOf('openapi: 3.1.0\nx: &x [*x]'))).toMatchObject({ problem: expect.any(String) });
    const read = await readApiDocument(bytesOf('openapi: 3.1.0\n__proto__: {polluted: 1}\nwhen: 2024-01-01'));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(read).toMatchObject({ value: { openapi: '3.1.0', when: '2024-01-01' } });
  });
});

describe('a body with a document', () => {
  const bodyOf = (openapi: object, operations: unknown) =>
    bytesOf({ name: 'a', configuration: { openapi, operations } });
  const shrunk = (openapi: object, operations: unknown) => {
    const made = shrinkBody(bodyOf(openapi, operations), 2 ** 30);
    if (!('body' in made)) throw new Error(JSON.stringify(made));
    return JSON.parse(made.body).configuration.openapi;
  };

  test('imports the same operations as the whole document', () => {
    const github = JSON.parse(apiDocument('github').toString());
    const wanted = [
      'issues/create',
      'GET /search/issues',
      'repos/get-content',
      'actions/create-workflow-dispatch',
      'gists/update',
    ];
    const whole = importFrom(github, { wanted });
    expect(whole.endpoints).toHaveLength(5);
    expect(importFrom(shrunk(github, wanted), { wanted })).toEqual(whole);
  });

  test('stays as it is when it is small, and loses all operations when none can be read', () => {
    const small = { ...documentOf(), 'x-a': [1] };
    expect(shrunk(small, ['nothing'])).toEqual(small);
    const large = { ...documentOf(), 'x-a': 'x'.repeat(600_000) };
    for (const operations of [undefined, 'op', [7], {}]) expect(shrunk(large, operations)).toMatchObject({ paths: {} });
    expect(Object.keys(shrunk(large, ['op']).paths)).toEqual(['/orders/{id}']);
  });

  test('follows references wherever they lead, also in circles and into what was picked, and changes nothing of the document', () => {
    const document = documentOf(
      {
        parameters: [
          { $ref: '#/paths/~1other/get/parameters/0' },
          { $ref: '#/components/parameters/A' },
          { $ref: '#' },
          { $ref: '#/__proto__/x' },
        ],
      },
      {
        paths: {
          '/orders': {
            get: {
              operationId: 'op',
              parameters: [{ $ref: '#/paths/~1other/get/parameters/0' }],
              requestBody: { $ref: '#/components/requestBodies/B' },
            },
          },
          '/other': { get: { parameters: [{ name: 'x', in: 'query', schema: { $ref: '#/components/schemas/S' } }] } },
        },
        components: {
          requestBodies: { B: { content: { 'application/json': { schema: { $ref: '#/components/schemas/S' } } } } },
          schemas: {
            S: {
              properties: { s: { $ref: '#/components/schemas/S' }, t: { $ref: '#/components/schemas/S/properties/s' } },
            },
            Unused: {},
          },
        },
      },
    );
    const before = structuredClone(document);
    const picked = pickOperations(document, ['op']);
    expect(document).toEqual(before);
    expect(importFrom(picked)).toEqual(importFrom(document));
    expect(importFrom(picked).endpoints).toHaveLength(1);
    expect(JSON.stringify(picked)).not.toContain('Unused');
  });
});

test('two imports of 13 MB at once, and two bodies with 13 MB, take the main thread less than parsing one of them', async () => {
  const github = apiDocument('github');
  const text = github.toString();
  const dir = await mkdtemp(join(tmpdir(), 'guildhall-bodies-'));
  const file = join(dir, 'body');
  const operations = ['issues/create'];
  await writeFile(file, bytesOf({ configuration: { openapi: JSON.parse(text), operations } }));
  await read(bytesOf(documentOf()));
  const share = async () => {
    const parsing = process.threadCpuUsage();
    JSON.parse(text);
    const { user: parse } = process.threadCpuUsage(parsing);
    const importing = process.threadCpuUsage();
    await Promise.all([
      read(github, operations, 'a'),
      read(github, ['pulls/list'], 'b'),
      readers.run('a', { file, limit: 2 ** 20 }),
      readers.run('b', { file, limit: 2 ** 20 }),
    ]);
    return process.threadCpuUsage(importing).user / parse;
  };
  // A collection of garbage that falls into the imports costs as much as a parse. It does not fall into most rounds.
  const [, middle] = [await share(), await share(), await share()].sort((one, other) => one - other);
  expect(middle).toBeLessThan(1);
  await rm(dir, { recursive: true });
});
