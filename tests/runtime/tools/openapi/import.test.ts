// Longer than most: each part of an operation has its rules, and all of them are read by one function.
import { requestOf } from '../../../../runtime/tools/openapi/call.ts';
import { importDocument } from '../../../../runtime/tools/openapi/importDocument.ts';
import { documentOf, faultsOf, imported, importFrom } from '../../../support/tools/openapiDocuments.ts';

describe('an endpoint', () => {
  test('has everything that a call needs', () => {
    const operation = {
      summary: 'Get an order',
      description: 'With its lines.',
      parameters: [{ name: 'expand[]', in: 'query', description: 'What comes along', schema: { type: 'array' } }],
    };
    expect(imported(documentOf(operation))).toEqual({
      operationId: 'op',
      description: 'Get an order\n\nWith its lines.',
      method: 'GET',
      server: 'https://api.example.com/v1',
      path: '/orders/{id}',
      parameters: [
        { input: 'id', name: 'id', in: 'path', style: 'simple', explode: false },
        { input: 'expand_', name: 'expand[]', in: 'query', style: 'form', explode: true },
      ],
      bodyType: null,
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'string' }, expand_: { type: 'array', description: 'What comes along' } },
        required: ['id'],
        additionalProperties: false,
      },
    });
  });

  test('its own parameters replace those of the path', () => {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }];
    expect(imported(documentOf({ parameters })).inputSchema.properties).toEqual({ id: { type: 'integer' } });
  });

  test('inputs with one name get distinct names, and none is called operationId', () => {
    const parameters = [
      { name: 'id', in: 'query', schema: {} },
      { name: 'body', in: 'header', schema: {} },
      { name: 'operationId', in: 'query', schema: {} },
    ];
    const requestBody = { content: { 'application/json': {} } };
    const { parameters: made, inputSchema } = imported(documentOf({ parameters, requestBody }));
    expect(made.map(({ input }) => input)).toEqual(['id', 'query_id', 'header_body', 'query_operationId']);
    expect(inputSchema.required).toEqual(['id']);
    expect(inputSchema.properties).toHaveProperty('body');
  });

  test('headers for credentials or the content type, or that HTTP sets, are not inputs', () => {
    const header = (name: string) => ({ name, in: 'header', schema: {} });
    const parameters = [header('Authorization'), header('accept'), header('Host'), header('X-Key'), header('X-Other')];
    const { parameters: made } = imported(documentOf({ parameters }), { authHeader: 'x-key' });
    expect(made.map(({ name }) => name)).toEqual(['id', 'X-Other']);
  });

  test('references to parameters, bodies and paths within the document are followed', () => {
    const components = {
      parameters: {
        Limit: { $ref: '#/components/parameters/Real' },
        Real: { name: 'limit', in: 'query', schema: { type: 'integer' } },
      },
      requestBodies: { Order: { content: { 'application/vnd.api+json': { schema: { type: 'object' } } } } },
    };
    const operation = {
      parameters: [{ $ref: '#/components/parameters/Limit' }],
      requestBody: { $ref: '#/components/requestBodies/Order' },
    };
    const made = imported(documentOf(operation, { components }));
    expect(made.parameters.map(({ name }) => name)).toEqual(['id', 'limit']);
    expect(made.bodyType).toBe('application/vnd.api+json');
  });
});

describe('a body', () => {
  const bodyOf = (content: object, required = true) => imported(documentOf({ requestBody: { required, content } }));
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'array' },
      file: { type: 'string', format: 'binary' },
      files: { type: 'array', items: { type: 'string', contentMediaType: 'application/octet-stream' } },
      note: { type: 'string', contentMediaType: 'text/plain' },
    },
  };

  test('is JSON before a form, a form before text, whatever their order', () => {
    const types = [
      'text/plain',
      'multipart/form-data',
      'application/x-www-form-urlencoded',
      'application/merge-patch+json; charset=utf-8',
      'application/json',
    ];
    for (let count = types.length; count > 0; count -= 1) {
      const content = Object.fromEntries(types.slice(0, count).map((type) => [type, {}]));
      expect(bodyOf(content).bodyType).toBe(count === 3 ? types[2] : types[count - 1]);
    }
  });

  test.each(['*/*', 'application/*'])('of the type %s is JSON, unless another is named', (type) => {
    expect(bodyOf({ [type]: { schema: { type: 'object' } } }).bodyType).toBe('application/json');
    expect(bodyOf({ [type]: {}, 'text/plain': {} }).bodyType).toBe('text/plain');
    const refused = documentOf({ requestBody: { required: true, content: { 'image/*': {} } } });
    expect(faultsOf(refused)).toEqual(['openapi paths /orders/{id} get requestBody content']);
  });

  test('that is a form keeps how its fields are written', () => {
    const encoding = {
      a: { style: 'deepObject', explode: true },
      b: { explode: false },
      c: { contentType: 'application/json' },
      d: { contentType: 'text/plain' },
      e: { allowReserved: true, contentType: 'application/json' },
      f: { contentType: 'application/merge-patch+json' },
      g: { contentType: 'text/csv, text/plain' },
      h: { contentType: 'text/csv\r\nX-Evil: 1' },
      i: { contentType: 'image/*' },
    };
    expect(bodyOf({ 'application/x-www-form-urlencoded': { schema, encoding } }).bodyFields).toEqual({
      a: { style: 'deepObject', explode: true },
      b: { style: 'form', explode: false },
      c: { style: 'json', explode: false },
      e: { style: 'form', explode: true, allowReserved: true },
      f: { style: 'json', explode: false, contentType: 'application/merge-patch+json' },
      g: { style: 'form', explode: true, contentType: 'text/csv' },
    });
  });

  test('that is a multipart form loses the files that may be left out, and is refused with those that may not', () => {
    const made = bodyOf({ 'multipart/form-data': { schema } }).inputSchema as {
      properties: { body: { properties: object } };
    };
    expect(Object.keys(made.properties.body.properties)).toEqual(['a', 'note']);
    const content = { 'multipart/form-data': { schema: { ...schema, required: ['file'] } } };
    expect(faultsOf(documentOf({ requestBody: { required: true, content } }))).toEqual([
      'openapi paths /orders/{id} get requestBody content multipart/form-data schema properties file',
    ]);
  });
});

describe('parameters that nobody need choose', () => {
  const parametersOf = (...parameters: object[]) => {
    const { parameters: made, inputSchema } = imported(documentOf({ parameters }));
    return {
      made: made.slice(1),
      properties: Object.keys(inputSchema.properties as object).slice(1),
      required: inputSchema.required,
    };
  };

  test('a required one with one value is sent with it', () => {
    expect(
      parametersOf(
        { name: 'X-Api-Version', in: 'header', required: true, schema: { type: 'string', enum: ['2022-11-28'] } },
        { name: 'v', in: 'query', required: true, schema: { const: 3 } },
        { name: 'w', in: 'query', schema: { enum: ['only'] } },
        { name: 'accept', in: 'header', schema: { type: 'string', default: 'application/vnd.x+json' } },
      ),
    ).toMatchObject({
      made: [
        { name: 'X-Api-Version', fixed: '2022-11-28' },
        { name: 'v', fixed: 3 },
        { name: 'w' },
        { name: 'accept', fixed: 'application/vnd.x+json' },
      ],
      properties: ['w'],
      required: ['id'],
    });
  });

  test('a required one with a default may be left out, and a deprecated one is', () => {
    expect(
      parametersOf(
        { name: 'X-Api-Version', in: 'header', required: true, schema: { type: 'string', default: '2022-11-28' } },
        { name: 'old', in: 'query', deprecated: true, schema: {} },
        { name: 'needed', in: 'query', deprecated: true, required: true, schema: {} },
      ),
    ).toMatchObject({ properties: ['X-Api-Version', 'needed'], required: ['id', 'needed'] });
  });
});

describe('the address of the API', () => {
  test.each([
    [[{ url: 'https://other.example/a/' }], 'https://other.example/a'],
    [[{ url: '/v2' }], 'https://api.example.com/v2'],
    [[{ url: '.' }], 'https://api.example.com/v1'],
    [undefined, 'https://api.example.com'],
    [[{ url: 'https://{region}.example.com', variables: { region: { default: 'eu' } } }], 'https://eu.example.com'],
  ])('servers %j', (servers, expected) => {
    expect(imported(documentOf({}, { servers })).server).toBe(expected);
  });

  test('a baseUrl takes precedence', () => {
    expect(
      imported(documentOf({ servers: [{ url: 'https://x' }] }), { baseUrl: 'http://a.example:81/b/' }).server,
    ).toBe('http://a.example:81/b');
  });

  test.each([
    ['ftp', [{ url: 'ftp://a.example' }], 'openapi servers 0 url'],
    ['credentials', [{ url: 'https://me:pass@a.example' }], 'openapi servers 0 url'],
    ['a query', [{ url: 'https://a.example/?a=b' }], 'openapi servers 0 url'],
  ])('a server with %s is refused', (_what, servers, fault) => {
    expect(faultsOf(documentOf({}, { servers }))).toEqual([fault]);
  });

  test('a relative server needs the address of the document', () => {
    const order = { source: { document: {} } };
    expect(faultsOf(documentOf({}, { servers: [{ url: '/v1' }] }), order)).toEqual(['baseUrl']);
  });

  test.each([
    ['of an operation', documentOf({ servers: [{ url: 'https://upload.example/' }] }), 'https://upload.example'],
    [
      'of a path',
      documentOf({}, { paths: { '/a': { servers: [{ url: '../v2' }], get: { operationId: 'op' } } } }),
      'https://api.example.com/v2',
    ],
    ['that are none', documentOf({ servers: [] }), 'https://api.example.com/v1'],
    [
      'of an operation, and the document has a broken one',
      { ...documentOf({ servers: [{ url: 'https://a.example' }] }), servers: [{ url: 'ftp://a' }] },
      'https://a.example',
    ],
  ])('servers %s go before those of the document', (_whose, document, server) => {
    expect(imported(document).server).toBe(server);
    expect(imported(document, { baseUrl: 'https://mine.example/v3/' }).server).toBe('https://mine.example/v3');
  });

  test('a server that is wrong is named where it stands', () => {
    const servers = [{ url: 'https://{tenant}.example.com' }];
    const [fault] = importFrom(documentOf({ servers })).faults;
    expect(fault).toEqual({
      field: 'openapi',
      steps: ['paths', '/orders/{id}', 'get', 'servers', 0, 'url'],
      message: 'has no value for {tenant}; a baseUrl can take its place',
    });
    expect(faultsOf(documentOf({}, { servers: [{ url: 'https://a.example/{account}' }] }))).toEqual([
      'openapi servers 0 url',
    ]);
  });
});

describe('a path that has a query or a fragment, which real documents have', () => {
  const q = { name: 'q', in: 'query', schema: { type: 'string' } };
  const at = (path: string, parameters: object[] = []) =>
    documentOf({}, { paths: { [path]: { get: { operationId: 'op', parameters } } } });
  const called = (path: string, parameters: object[], inputs: object) =>
    requestOf(imported(at(path, parameters)), { ...inputs }).url.replace('https://api.example.com/v1', '');

  test.each([
    ['/bucket?acl', [], {}, '/bucket?acl='],
    ['/bucket?restype=container&comp=a%26b', [q], { q: 'x' }, '/bucket?q=x&restype=container&comp=a%26b'],
    ['/search?query={q}', [{ ...q, in: 'path', required: true }], { query: 'a b' }, '/search?query=a%20b'],
    ['/search?q={q}', [q], { q: 'x' }, '/search?q=x'],
    ['/search?q={q}', [q], {}, '/search'],
    ['/search{?q,limit}', [q], { q: 'x' }, '/search?q=x'],
    ['/#Action=RunInstances', [q], { q: 'x' }, '/?q=x'],
    ['/a?q=1', [q], { q: 2 }, '/a?q=1'],
  ])('%s with %j and %j calls %s', (path, parameters, inputs, url) => {
    expect(called(path, parameters, inputs)).toBe(url);
  });

  test.each(['/search?a={term}', '/search?filter=name+eq+{q}'])('%s is refused where nothing fills it in', (path) => {
    expect(faultsOf(at(path, [q]))).toEqual([`openapi paths ${path} get`]);
  });

  test('it is picked by what the document says', () => {
    const { endpoints } = importFrom(at('/bucket?acl'), { wanted: ['GET /bucket?acl'] });
    expect(endpoints).toMatchObject([{ operationId: 'op', path: '/bucket' }]);
    expect(endpoints[0]?.inputSchema).toMatchObject({ properties: {} });
  });
});

describe('faults of a document', () => {
  test.each([
    ['no object', [], ['openapi']],
    ['Swagger 1', { swagger: '1.2' }, ['openapi openapi']],
    ['no version', { paths: {} }, ['openapi openapi']],
    ['an operationId that is not there', documentOf({ operationId: 'other' }), ['operations 0']],
    ['no paths', { openapi: '3.1.0', servers: [{ url: 'https://a.example' }] }, ['operations 0']],
    [
      'a required cookie',
      documentOf({ parameters: [{ name: 'a', in: 'cookie', required: true }] }),
      ['openapi paths /orders/{id} get parameters 0 in'],
    ],
    [
      'a place that is none',
      documentOf({ parameters: [{ name: 'a', in: 'body' }] }),
      ['openapi paths /orders/{id} get parameters 0 in'],
    ],
    [
      'a header that is none',
      documentOf({ parameters: [{ name: 'X Key', in: 'header' }] }),
      ['openapi paths /orders/{id} get parameters 0 name'],
    ],
    [
      'a style that is not taken',
      documentOf({ parameters: [{ name: 'a', in: 'query', style: 'matrix' }] }),
      ['openapi paths /orders/{id} get parameters 0 style'],
    ],
    [
      'a body that is neither JSON nor a form nor text',
      documentOf({ requestBody: { required: true, content: { 'application/xml': {} } } }),
      ['openapi paths /orders/{id} get requestBody content'],
    ],
    [
      'a reference in a circle',
      documentOf(
        { parameters: [{ $ref: '#/components/parameters/A' }] },
        { components: { parameters: { A: { $ref: '#/components/parameters/A' } } } },
      ),
      ['openapi components parameters A'],
    ],
    [
      'a path without its parameter',
      { ...documentOf(), paths: { '/a/{b}': { get: { operationId: 'op' } } } },
      ['openapi paths /a/{b} get'],
    ],
    [
      'an operationId that two have',
      { ...documentOf(), paths: { '/a': { get: { operationId: 'op' }, put: { operationId: 'op' } } } },
      ['operations 0'],
    ],
  ])('%s', (_what, document, faults) => {
    expect(faultsOf(document)).toEqual(faults);
  });

  test('an optional cookie, and an optional body that cannot be sent, are left out', () => {
    const parameters = [{ name: 'a', in: 'cookie', schema: {} }];
    const made = imported(documentOf({ parameters, requestBody: { content: { 'application/zip': {} } } }));
    expect([made.parameters.length, made.bodyType]).toEqual([1, null]);
  });

  test('every fault is listed', () => {
    const document = documentOf({ parameters: [{ name: 'a', in: 'body' }] }, { servers: [{ url: 'ftp://a' }] });
    expect(faultsOf(document, { wanted: ['op', 'other'] })).toHaveLength(3);
  });
});

describe('a hostile document', () => {
  const order = {
    wanted: ['op'],
    baseUrl: undefined,
    authHeader: undefined,
    allowPrivateNetwork: false,
    workspaceId: 'a',
  };

  test('cannot reach into prototypes', async () => {
    const openapi = JSON.parse(
      `{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"paths":{"__proto__":{"get":{"operationId":"op"}},
        "/a":{"get":{"operationId":"op","parameters":[{"name":"__proto__","in":"query","schema":{"__proto__":{"x":1}}}]}}}}`,
    );
    const { endpoints } = await importDocument({ ...order, openapi });
    expect(endpoints.map(({ path }) => path)).not.toContain('__proto__');
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  test('schemas that nest too deeply are refused, with their place', () => {
    let schema: object = { type: 'string' };
    for (let level = 0; level < 70; level += 1) schema = { items: schema };
    const body = { requestBody: { content: { 'application/json': { schema } } } };
    const { faults } = importFrom(documentOf(body));
    expect(faults).toMatchObject([{ field: 'openapi', message: 'must not nest deeper than 64 levels' }]);
    expect(faults[0]?.steps.slice(-2)).toEqual(['items', 'items']);
  });

  test('more parameters than anybody fills in are refused', () => {
    const parameters = Array.from({ length: 1_001 }, (_, n) => ({ name: `a${n}`, in: 'query', schema: {} }));
    const { faults } = importFrom(documentOf({ parameters }));
    expect(faults).toMatchObject([{ field: 'openapi', message: 'must not have more than 1000 items' }]);
  });

  test('a hundred thousand references to schemas of one name take no quadratic time', () => {
    const count = 100_000;
    const places = Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, { Order: {} }]));
    const anyOf = Array.from({ length: count }, (_, n) => ({ $ref: `#/x/k${n}/Order` }));
    const body = { requestBody: { content: { 'application/json': { schema: { anyOf } } } } };
    const { faults } = importFrom(documentOf(body, { x: places }));
    expect(faults).toMatchObject([{ message: 'takes inputs that are too large to describe' }]);
  }); // it takes far less than a second, and took minutes

  test('a document that cannot be copied to its thread is refused', async () => {
    let openapi: Record<string, unknown> = {};
    for (let level = 0; level < 100_000; level += 1) openapi = { openapi };
    const { faults } = await importDocument({ ...order, openapi });
    expect(faults).toMatchObject([{ message: 'must not nest that deeply' }]);
  });

  test('several documents at once are all read', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => importDocument({ ...order, openapi: documentOf() })));
    expect(all.map(({ endpoints }) => endpoints.length)).toEqual([1, 1, 1, 1, 1]);
  });
});
