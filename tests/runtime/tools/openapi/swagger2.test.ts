import { requestOf } from '../../../../runtime/tools/openapi/call.ts';
import { exampleDocument } from '../../../support/apiDocuments/apiDocuments.ts';
import { formFields } from '../../../support/tools/formFields.ts';
import { faultsOf, imported, importFrom } from '../../../support/tools/openapiDocuments.ts';

const petstore = JSON.parse(exampleDocument('2.0/json/petstore.json').toString());
const fromPetstore = (name: string) => imported(petstore, { wanted: [name] });

/** A document with one operation, `op`. */
const swagger = (operation: object, more: object = {}) => ({
  swagger: '2.0',
  host: 'api.example.com',
  basePath: '/v1',
  paths: { '/orders': { post: { operationId: 'op', ...operation } } },
  ...more,
});
const field = (name: string, more: object) => ({ name, in: 'formData', type: 'string', ...more });

describe('the Petstore of Swagger 2.0', () => {
  test('all operations are imported', () => {
    const wanted = Object.values<Record<string, { operationId?: string }>>(petstore.paths)
      .flatMap(Object.values)
      .map(({ operationId }) => operationId);
    const { endpoints, faults } = importFrom(petstore, { wanted });
    expect(faults).toEqual([]);
    expect(endpoints).toHaveLength(20);
    expect(new Set(endpoints.map(({ server }) => server))).toEqual(new Set(['http://petstore.swagger.io/v2']));
  });

  test('a body with definitions is JSON', () => {
    const addPet = fromPetstore('addPet');
    expect(addPet).toMatchObject({ method: 'POST', path: '/pet', bodyType: 'application/json' });
    expect(addPet.inputSchema).toMatchObject({
      required: ['body'],
      properties: { body: { $ref: '#/$defs/Pet' } },
      $defs: { Pet: { required: ['name', 'photoUrls'], properties: { category: { $ref: '#/$defs/Category' } } } },
    });
  });

  test('a list of the query is repeated where the document says multi', () => {
    const { url } = requestOf(fromPetstore('findPetsByStatus'), { status: ['sold', 'pending'] });
    expect(url).toBe('http://petstore.swagger.io/v2/pet/findByStatus?status=sold&status=pending');
  });

  test('fields of a form are sent as a form', () => {
    const request = requestOf(fromPetstore('updatePetWithForm'), {
      petId: 7,
      body: { name: 'Rex & Co', status: 'sold' },
    });
    expect(request).toMatchObject({
      url: 'http://petstore.swagger.io/v2/pet/7',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(formFields(request.body ?? '')).toEqual({ name: 'Rex & Co', status: 'sold' });
  });

  test('a file that is optional is left out of a multipart form', () => {
    const upload = fromPetstore('uploadFile');
    expect(upload.bodyType).toBe('multipart/form-data');
    expect(
      Object.keys((upload.inputSchema as { properties: { body: { properties: object } } }).properties.body.properties),
    ).toEqual(['additionalMetadata']);
  });
});

describe('lists', () => {
  test.each([
    [undefined, 'a=1,b%2Cc'],
    ['csv', 'a=1,b%2Cc'],
    ['ssv', 'a=1%20b%2Cc'],
    ['tsv', 'a=1%09b%2Cc'],
    ['pipes', 'a=1%7Cb%2Cc'],
    ['multi', 'a=1&a=b%2Cc'],
  ])('%s, in a query and in a form', (collectionFormat, text) => {
    const list = { name: 'a', type: 'array', items: { type: 'string' }, collectionFormat };
    const query = imported(swagger({ parameters: [{ ...list, in: 'query' }] }));
    expect(requestOf(query, { a: ['1', 'b,c'] }).url).toBe(`https://api.example.com/v1/orders?${text}`);
    const form = imported(swagger({ parameters: [{ ...list, in: 'formData' }] }));
    expect(requestOf(form, { body: { a: ['1', 'b,c'] } }).body).toBe(text);
  });

  test('of a path and of a header has one of the separators, and is never repeated', () => {
    const document = (collectionFormat: string) => ({
      ...swagger({}),
      paths: {
        '/orders/{ids}': {
          parameters: [
            { name: 'ids', in: 'path', required: true, type: 'array', items: { type: 'integer' }, collectionFormat },
            { name: 'X-Of', in: 'header', type: 'array', items: { type: 'string' }, collectionFormat },
          ],
          get: { operationId: 'op' },
        },
      },
    });
    for (const [format, path, header] of [
      ['csv', '1,2', 'a,b'],
      ['ssv', '1%202', 'a b'],
      ['tsv', '1%092', 'a\tb'],
      ['pipes', '1%7C2', 'a|b'],
    ] as const) {
      expect(requestOf(imported(document(format)), { ids: [1, 2], 'X-Of': ['a', 'b'] })).toMatchObject({
        url: `https://api.example.com/v1/orders/${path}`,
        headers: { 'X-Of': header },
      });
    }
    expect(faultsOf(document('multi'))).toEqual(['openapi paths /orders/{ids} parameters 0 collectionFormat']);
  });
});

test.each([
  [{ schemes: ['http'] }, 'http://api.example.com/v1'],
  [{ schemes: ['http', 'https'] }, 'https://api.example.com/v1'],
  [{ schemes: ['wss'] }, 'https://api.example.com/v1'],
  [{ host: 'a.example:8080', basePath: undefined }, 'https://a.example:8080'],
  [{ host: undefined, basePath: '/v2/' }, 'https://api.example.com/v2'],
])('the address of the API by %j', (more, server) => {
  expect(imported(swagger({}, more)).server).toBe(server);
});

test('a file that is required, and a body that is XML, are refused', () => {
  expect(faultsOf(swagger({ parameters: [field('file', { type: 'file', required: true })] }))).toEqual([
    'openapi paths /orders post requestBody content multipart/form-data schema properties file',
  ]);
  const parameters = [{ name: 'order', in: 'body', required: true, schema: {} }];
  expect(faultsOf(swagger({ parameters, consumes: ['application/xml'] }))).toEqual([
    'openapi paths /orders post requestBody content',
  ]);
});

test('parameters that are referred to, null by extension, and numbers of YAML as the version', () => {
  const document = {
    ...swagger({ parameters: [{ $ref: '#/parameters/Limit' }, { $ref: '#/parameters/Order' }] }),
    swagger: 2,
    parameters: {
      Limit: {
        name: 'limit',
        in: 'query',
        type: 'integer',
        maximum: 9,
        description: 'How many',
        default: 3,
        required: true,
      },
      Order: { name: 'order', in: 'body', required: true, schema: { $ref: '#/definitions/Order' } },
    },
    definitions: { Order: { type: 'object', properties: { note: { type: 'string', 'x-nullable': true } } } },
  };
  expect(imported(document).inputSchema).toEqual({
    type: 'object',
    properties: {
      limit: { type: 'integer', maximum: 9, default: 3, description: 'How many' },
      body: { $ref: '#/$defs/Order' },
    },
    required: ['body'],
    additionalProperties: false,
    $defs: { Order: { type: 'object', properties: { note: { type: ['string', 'null'] } } } },
  });
});
