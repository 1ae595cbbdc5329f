import { documentOf, faultsOf, imported } from '../../../support/tools/openapiDocuments.ts';

const withBody = (schema: object, more: object = {}) =>
  documentOf({ requestBody: { required: true, content: { 'application/json': { schema } } } }, more);
const bodyOf = (schema: object, more: object = {}) => {
  const { properties, $defs } = imported(withBody(schema, more)).inputSchema as Record<string, Record<string, unknown>>;
  return { body: properties?.body, $defs };
};

describe('schemas', () => {
  test('the schemas that they refer to are included, also recursive ones', () => {
    const Node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } };
    const { body, $defs } = bodyOf(
      { $ref: '#/components/schemas/Node' },
      { components: { schemas: { Node, Unused: {} } } },
    );
    expect(body).toEqual({ $ref: '#/$defs/Node' });
    expect($defs).toEqual({ Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } });
  });

  test('OpenAPI 3.0 becomes JSON Schema 2020-12', () => {
    const schema = {
      type: 'object',
      required: ['id', 'a'],
      properties: {
        id: { type: 'integer', readOnly: true },
        a: { type: 'string', nullable: true, enum: ['x'], example: 'x', xml: {} },
        b: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        c: { allOf: [{ type: 'object' }], nullable: true },
        d: { type: 'string', pattern: '[a-z' },
      },
    };
    expect(bodyOf(schema).body).toEqual({
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: ['string', 'null'], enum: ['x', null] },
        b: { type: 'number', exclusiveMinimum: 1, maximum: 9 },
        c: { anyOf: [{ allOf: [{ type: 'object' }] }, { type: 'null' }] },
        d: { type: 'string' },
      },
    });
  });

  test('what says nothing to a model is left out', () => {
    const schema = {
      type: 'object',
      title: 'OrderParams',
      'x-order': 1,
      externalDocs: { url: 'https://a.example' },
      required: ['kept'],
      properties: {
        a: { type: 'string', maxLength: 5000, description: '<p>The <code>a</code>.</p>', examples: ['x'] },
        b: { type: 'string', maxLength: 20 },
        old: { type: 'string', deprecated: true },
        kept: { type: 'string', deprecated: true },
      },
    };
    expect(bodyOf(schema).body).toEqual({
      type: 'object',
      required: ['kept'],
      properties: {
        a: { type: 'string', description: 'The a.' },
        b: { type: 'string', maxLength: 20 },
        kept: { type: 'string' },
      },
    });
  });

  test('properties with the names of keywords stay properties', () => {
    const properties = { example: { type: 'string' }, $ref: { type: 'string' }, nullable: { type: 'boolean' }, id: {} };
    expect(bodyOf({ type: 'object', properties }).body).toEqual({ type: 'object', properties });
  });

  test('a large document gives a schema that a model can read', () => {
    const schemas: Record<string, object> = {};
    for (let level = 0; level < 200; level += 1) {
      const properties = {
        next: { $ref: `#/components/schemas/S${level + 1}` },
        note: { type: 'string', description: 'x'.repeat(500) },
      };
      schemas[`S${level}`] = { type: 'object', properties };
    }
    schemas.S200 = {};
    const { body, $defs } = bodyOf({ $ref: '#/components/schemas/S0' }, { components: { schemas } });
    expect(body).toEqual({ $ref: '#/$defs/S0' });
    expect(Object.keys($defs ?? {})).toEqual(['S0', 'S1', 'S2', 'S3', 'S4']);
  });

  test.each([
    ['a document elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['a file', { $ref: './order.yaml#/Order' }],
    ['a name', { $ref: '#Order' }],
    ['nothing', { $ref: '#/components/schemas/No' }],
    ['what a prototype has', { $ref: '#/constructor' }],
  ])('a reference to %s is refused', (_what, schema) => {
    expect(faultsOf(withBody({ properties: { a: schema } }))).toEqual([
      'openapi paths /orders/{id} get requestBody content application/json schema properties a $ref',
    ]);
  });
});

test('numbers that JSON has not are no bounds, no values and no versions', () => {
  const parameters = [
    { name: 'a', in: 'query', schema: { type: 'number', minimum: 1, maximum: Number.POSITIVE_INFINITY } },
    { name: 'b', in: 'query', schema: { exclusiveMinimum: Number.NEGATIVE_INFINITY, default: Number.NaN } },
    { name: 'c', in: 'query', schema: { enum: [1, Number.POSITIVE_INFINITY] } },
    { name: 'd', in: 'query', required: true, schema: { const: Number.NaN } },
  ];
  const { parameters: made, inputSchema } = imported(documentOf({ parameters }));
  expect(inputSchema.properties).toEqual({
    id: { type: 'string' },
    a: { type: 'number', minimum: 1 },
    b: {},
    c: {},
    d: {},
  });
  expect(made.filter(({ fixed }) => fixed !== undefined)).toEqual([]);
});

test('allowReserved of a query is kept, and 3.0 that YAML reads as a number is a version', () => {
  const parameters = [{ name: 'q', in: 'query', allowReserved: true }];
  const endpoint = imported({ ...documentOf({ parameters }), openapi: 3 });
  expect(endpoint.parameters).toContainEqual({
    input: 'q',
    name: 'q',
    in: 'query',
    style: 'form',
    explode: true,
    allowReserved: true,
  });
  expect(faultsOf({ ...documentOf(), openapi: 30 })).toEqual(['openapi openapi']);
});
