// Long: one line for each fault that a configuration can have.
import { ApiError } from '../../../../core/errors.ts';
import { checkConfiguration } from '../../../../runtime/tools/configuration/configuration.ts';
import type { ToolType } from '../../../../runtime/tools/tool.ts';
import { processorMs } from '../../../support/processorTime.ts';

const check = (type: ToolType, configuration: object, stored = {}) =>
  checkConfiguration(type, configuration as Record<string, unknown>, {
    workspaceId: 'w',
    allowPrivateNetwork: false,
    present: { visible: configuration as Record<string, unknown>, secrets: stored, endpoints: [] },
  });

/** The JSON Pointers of the faults, below `/body/configuration`. */
async function faultsOf(type: ToolType, configuration: object, stored = {}): Promise<string[]> {
  try {
    await check(type, configuration, stored);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe('INVALID_TOOL_CONFIGURATION');
    for (const { path, message, keyword } of error.details) {
      expect(path).toMatch(/^\/body\/configuration/);
      expect([message, keyword]).not.toContain('');
    }
    return error.details.map(({ path }) => path.slice('/body/configuration'.length)).sort();
  }
}

const url = 'https://api.example.com/orders';
const object = (properties: object, more = {}) => ({ type: 'object', properties, ...more });

describe('HTTP_REQUEST', () => {
  test.each([
    ['a url alone', { url }],
    ['http', { url: 'http://api.example.com' }],
    [
      'inputs in the path, the query and the port',
      { url: 'https://api.example.com:{{input.p}}/a/{{input.b}}?c={{input.c}}' },
    ],
    ['an address that an input gives as a whole, without secrets', { url: '{{input.address}}' }],
    [
      'a secret that is the address',
      { url: '{{secret.hook}}/x/{{input.y}}', secrets: { hook: 'https://hooks.example.com/1' } },
    ],
    ['a secret in the host', { url: 'https://{{secret.shop}}.example.com/', secrets: { shop: 'acme' } }],
    ['blanks in the braces', { url, headers: { a: '{{ secret.a }}' }, secrets: { a: 'abc' } }],
    ['other braces in a body', { url, body: 'Dear {{name}}, {{#each}}' }],
    ['a body that is a list, a number, false or null', { url, body: [1, { a: false }, null] }],
    ['text with a declared input', { url, body: 'x {{input.a}}', inputSchema: object({ a: {} }) }],
    ['an input that a schema leaves open', { url, body: '{{input.a}}', inputSchema: { type: 'object' } }],
    [
      'an input that additionalProperties allows',
      { url, body: '{{input.b}}', inputSchema: object({ a: {} }, { additionalProperties: true }) },
    ],
    [
      'draft-07',
      {
        url,
        inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', ...object({ a: { type: 'string' } }) },
      },
    ],
    [
      'everything at its largest',
      {
        url,
        method: 'PATCH',
        timeoutSeconds: 120,
        body: 'x'.repeat(262_144),
        headers: { 'X-A': 'é' },
        query: { a: '' },
      },
    ],
  ])('takes %s', async (_what, configuration) => {
    expect(await faultsOf('HTTP_REQUEST', configuration)).toEqual([]);
  });

  test.each([
    ['no url', {}, '/url'],
    ['an empty url', { url: '' }, '/url'],
    ['a url that is no text', { url: 7 }, '/url'],
    ['another scheme', { url: 'ftp://example.com' }, '/url'],
    ['no scheme', { url: 'api.example.com/orders' }, '/url'],
    ['no host', { url: 'https:///orders' }, '/url'],
    ['no host before an input', { url: 'https:///{{input.x}}', secrets: { a: 'abc' } }, '/url'],
    ['a host of blanks before an input', { url: 'https://\t/{{input.x}}', secrets: { a: 'abc' } }, '/url'],
    ['a backslash before an input', { url: 'https:\\\\{{input.x}}', secrets: { a: 'abc' } }, '/url'],
    ['a host that cannot be', { url: 'https://a b.example.com/' }, '/url'],
    ['a port that cannot be', { url: 'https://a.example.com:99999/' }, '/url'],
    ['credentials', { url: 'https://me:pass@api.example.com/' }, '/url'],
    ['a user name', { url: 'https://{{secret.a}}@api.example.com/', secrets: { a: 'me' } }, '/url'],
    ['an input as host beside secrets', { url: 'https://{{input.h}}/', secrets: { a: 'abc' } }, '/url'],
    [
      'an input at the end of the host beside secrets',
      { url: 'https://api{{input.h}}', secrets: { a: 'abc' } },
      '/url',
    ],
    [
      'an input directly after a secret address',
      { url: '{{secret.a}}{{input.b}}', secrets: { a: 'https://a' } },
      '/url',
    ],
    ['text directly after a secret address', { url: '{{secret.a}}.evil.example', secrets: { a: 'https://a' } }, '/url'],
    ['an input as the whole address beside secrets', { url: '{{input.u}}', secrets: { a: 'abc' } }, '/url'],
    ['an unknown placeholder', { url: `${url}/{{inputs.a}}` }, '/url'],
    ['a dot segment', { url: `${url}/../admin` }, '/url'],
    ['a method that is not taken', { url, method: 'TRACE' }, '/method'],
    ['a method in lower case', { url, method: 'get' }, '/method'],
    ['headers that are a list', { url, headers: ['a'] }, '/headers'],
    ['a header that is a number', { url, headers: { a: 1 } }, '/headers/a'],
    ['a header name with a blank', { url, headers: { 'a b': 'x' } }, '/headers/a b'],
    ['a header name with a line break', { url, headers: { 'a\r\nb': 'x' } }, '/headers/a\r\nb'],
    ['a header value with a line break', { url, headers: { a: 'x\r\nb: y' } }, '/headers/a'],
    ['a header that HTTP sets', { url, headers: { Host: 'other.example' } }, '/headers/Host'],
    ['a header twice', { url, headers: { 'X-A': '1', 'x-a': '2' } }, '/headers/x-a'],
    ['a query that is text', { url, query: 'a=b' }, '/query'],
    ['a query value that is null', { url, query: { a: null } }, '/query/a'],
    ['a placeholder as a name', { url, query: { '{{input.a}}': 'x' } }, '/query/{{input.a}}'],
    ['a placeholder as a name in the body', { url, body: { a: [{ '{{input.a}}': 1 }] } }, '/body/a/0/{{input.a}}'],
    ['a body that is too large', { url, body: 'x'.repeat(262_145) }, '/body'],
    ['a secret that is not there', { url, headers: { a: 'Bearer {{secret.token}}' } }, '/headers/a'],
    [
      'a secret with the name of a built-in',
      { url, query: { a: '{{secret.constructor}}' }, secrets: { b: 'abc' } },
      '/query/a',
    ],
    [
      'an input that is not declared',
      { url, body: { a: { 'b/c': '{{input.x}}' } }, inputSchema: object({ y: {} }) },
      '/body/a/b~1c',
    ],
    ['a secret that is empty', { url, secrets: { a: '' } }, '/secrets/a'],
    ['a secret that is no text', { url, secrets: { a: { b: 'c' } } }, '/secrets/a'],
    ['a secret whose name cannot be written', { url, secrets: { 'a b': 'c' } }, '/secrets/a b'],
    ['a hidden secret of which none is stored', { url, secrets: { a: '********' } }, '/secrets/a'],
    ['a timeout of 0', { url, timeoutSeconds: 0 }, '/timeoutSeconds'],
    ['a timeout of 121', { url, timeoutSeconds: 121 }, '/timeoutSeconds'],
    ['a timeout of 1.5', { url, timeoutSeconds: 1.5 }, '/timeoutSeconds'],
    ['a timeout in text', { url, timeoutSeconds: '30' }, '/timeoutSeconds'],
    ['an unknown field', { url, retries: 3 }, '/retries'],
    ['a field of another type', { url, connection: 'postgres://a/b' }, '/connection'],
    ['null for a field', { url, headers: null }, '/headers'],
  ])('refuses %s', async (_what, configuration, place) => {
    expect(await faultsOf('HTTP_REQUEST', configuration)).toEqual([place]);
  });

  test('every fault is listed, also those of different rules', async () => {
    const configuration = {
      url: 'ftp://x',
      method: 'HEAD',
      headers: { 'a b': 'x', c: '{{secret.no}}' },
      timeoutSeconds: 0,
      inputSchema: { type: 'string' },
      secrets: { old: '********' },
      other: 1,
    };
    expect(await faultsOf('HTTP_REQUEST', configuration)).toEqual(
      [
        '/headers/a b',
        '/headers/c',
        '/inputSchema/type',
        '/method',
        '/other',
        '/secrets/old',
        '/timeoutSeconds',
        '/url',
      ].sort(),
    );
  });

  test('at most 20 faults are listed', async () => {
    const headers = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`a ${index}`, 'x']));
    expect(await faultsOf('HTTP_REQUEST', { url, headers })).toHaveLength(20);
  });

  test.each([
    ['unknown fields', (many: object) => ({ url, ...many })],
    ['headers of a wrong type', (many: object) => ({ url, headers: many })],
    ['names that are none', (many: object) => ({ url, headers: { ...many, 'a b': 'x' }, secrets: many, query: many })],
    [
      'references',
      (many: object) => ({
        url,
        inputSchema: { type: 'object', ...many, anyOf: Object.values(many).map(() => ({ $ref: 'x' })) },
      }),
    ],
    ['operations', (many: object) => ({ openapi: {}, operations: Object.values(many) })],
  ])('40,000 %s are refused quickly', async (_what, make) => {
    const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`a ${index}`, [index]]));
    const ms = await processorMs(async () => {
      for (const type of ['HTTP_REQUEST', 'CUSTOM_INTEGRATION'] as const) {
        expect((await faultsOf(type, make(many))).length).toBeGreaterThan(0);
      }
    });
    expect(ms).toBeLessThan(5_000);
  });

  test('a hidden secret keeps the stored value; any other value replaces it', async () => {
    const configuration = { url, secrets: { a: '********', b: 'new' } };
    const { visible, secrets } = await check('HTTP_REQUEST', configuration, {
      '/secrets/a': 'old',
      '/secrets/b': 'old',
    });
    expect(secrets).toEqual({ '/secrets/a': 'old', '/secrets/b': 'new' });
    expect(visible).toEqual({ url, secrets: { a: '********', b: '********' } });
  });
});

describe('inputSchema', () => {
  const refused = async (inputSchema: object) => faultsOf('HTTP_REQUEST', { url, inputSchema });

  test.each([
    ['no object', { type: 'array' }, '/type'],
    ['a type that is no type', object({ a: { type: 'text' } }), '/properties/a/type'],
    ['a pattern that is none', object({ a: { pattern: '((' } }), '/properties/a/pattern'],
    ['a property pattern that is none', { type: 'object', patternProperties: { '[': {} } }, '/patternProperties/['],
    ['a reference to elsewhere', object({ a: { $ref: 'https://example.com/schema' } }), '/properties/a/$ref'],
    ['a reference to a file', object({ a: { $ref: 'file:///etc/passwd' } }), '/properties/a/$ref'],
    ['a dynamic reference to elsewhere', object({ a: { $dynamicRef: 'other#x' } }), '/properties/a/$dynamicRef'],
    ['a reference to nothing', object({ a: { $ref: '#/$defs/no' } }), ''],
    ['a validator that promises', { type: 'object', $async: true }, '/$async'],
    ['an old dialect', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, '/$schema'],
    ['a schema that is too large', object({ a: { description: 'x'.repeat(32_768) } }), ''],
    ['a pattern that is too long', object({ a: { pattern: 'x'.repeat(1001) } }), '/properties/a/pattern'],
  ])('refuses %s', async (_what, schema, place) => {
    const faults = await refused(schema);
    expect(new Set(faults)).toEqual(new Set([`/inputSchema${place}`]));
  });

  test('refuses one that nests too deeply', async () => {
    let deep: object = {};
    for (let level = 0; level < 40; level += 1) deep = { not: deep };
    const [fault] = await refused({ type: 'object', ...deep });
    expect(fault).toMatch(/^\/inputSchema(\/not){30,}/);
  });

  test.each([
    ['references of its own', { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { type: 'string' } } }],
    ['one that refers to itself', object({ child: { $ref: '#' } })],
    ['an id', { $id: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }],
    ['an address that is only data', object({ a: { const: { $ref: 'https://example.com' } } })],
    ['a format that nobody knows', object({ a: { type: 'string', format: 'colour' } })],
    ['a field called like a keyword', object({ $ref: { type: 'string' }, pattern: { type: 'string' }, $async: {} })],
  ])('takes %s', async (_what, schema) => {
    expect(await refused(schema)).toEqual([]);
  });

  test('one whose validation time doubles with each level is stored without running it', async () => {
    const $defs: Record<string, object> = { d40: { type: 'string' } };
    for (let level = 0; level < 40; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      $defs[`d${level}`] = { allOf: [next, next] };
    }
    expect(await refused({ ...object({ a: { $ref: '#/$defs/d0' } }), $defs })).toEqual([]);
  });
});

describe('DATABASE_QUERY', () => {
  const connection = 'postgres://reader:pass@db.example.com:5432/shop';
  const query = 'select 1';

  test('its whole connection is a secret', async () => {
    const { visible, secrets } = await check('DATABASE_QUERY', { connection, query, maxRows: 1000, timeoutSeconds: 1 });
    expect(visible).toEqual({ connection: '********', query, maxRows: 1000, timeoutSeconds: 1 });
    expect(secrets).toEqual({ '/connection': connection });
  });

  test('a hidden connection keeps the stored one', async () => {
    const { secrets } = await check('DATABASE_QUERY', { connection: '********', query }, { '/connection': connection });
    expect(secrets).toEqual({ '/connection': connection });
  });

  test.each([
    ['no connection', { query }, ['/connection']],
    ['no query', { connection }, ['/query']],
    ['nothing', {}, ['/connection', '/query']],
    ['another database', { connection: 'mysql://a:b@c/d', query }, ['/connection']],
    ['a connection that is no address', { connection: 'db.example.com', query }, ['/connection']],
    ['a hidden connection of which none is stored', { connection: '********', query }, ['/connection']],
    ['two statements', { connection, query: 'select 1; drop table orders' }, ['/query']],
    ['a statement that writes', { connection, query: 'delete from orders' }, ['/query']],
    ['an empty query', { connection, query: ' ' }, ['/query']],
    [
      'a parameter that is not declared',
      { connection, query: 'select :a, :b', inputSchema: object({ a: {} }) },
      ['/query'],
    ],
    ['a connection of 2001 characters', { connection: `${connection}/`.padEnd(2001, 'x'), query }, ['/connection']],
    ['a query of 50001 characters', { connection, query: 'select '.padEnd(50_001, 'x') }, ['/query']],
    ['maxRows 0', { connection, query, maxRows: 0 }, ['/maxRows']],
    ['maxRows 1001', { connection, query, maxRows: 1001 }, ['/maxRows']],
    ['a timeout of 121', { connection, query, timeoutSeconds: 121 }, ['/timeoutSeconds']],
    ['an inputSchema of a list', { connection, query, inputSchema: { type: 'array' } }, ['/inputSchema/type']],
    [
      'several faults',
      { connection: 'x', query: '', maxRows: 'a', url },
      ['/connection', '/maxRows', '/query', '/url'],
    ],
  ])('refuses %s', async (_what, configuration, places) => {
    expect(await faultsOf('DATABASE_QUERY', configuration)).toEqual(places);
  });

  test('the message about a connection does not repeat it', async () => {
    const error = await check('DATABASE_QUERY', { connection: 'mysql://me:topsecret@db.internal/x', query }).catch(
      (each) => each,
    );
    expect(JSON.stringify(error.details)).not.toMatch(/topsecret|db\.internal/);
  });
});

describe('INTERNAL_VARIABLE', () => {
  const variable = { name: 'language', type: 'string', scope: 'conversation' };

  test.each([
    ['string', 'en'],
    ['string', ''],
    ['number', 1.5],
    ['boolean', false],
    ['object', { a: [] }],
    ['array', [{ a: 1 }]],
    ['array', null],
  ])('takes a %s with the default %j', async (type, defaultValue) => {
    expect(await faultsOf('INTERNAL_VARIABLE', { ...variable, type, defaultValue, writable: true })).toEqual([]);
  });

  test.each([
    ['nothing', {}, ['/name', '/scope', '/type']],
    ['an empty name', { ...variable, name: '' }, ['/name']],
    ['a name of 151 characters', { ...variable, name: 'x'.repeat(151) }, ['/name']],
    ['another type', { ...variable, type: 'date' }, ['/type']],
    ['another scope', { ...variable, scope: 'agent' }, ['/scope']],
    ['writable in text', { ...variable, writable: 'yes' }, ['/writable']],
    ['a number for a string', { ...variable, defaultValue: 7 }, ['/defaultValue']],
    ['a list for an object', { ...variable, type: 'object', defaultValue: [] }, ['/defaultValue']],
    ['an object for a list', { ...variable, type: 'array', defaultValue: {} }, ['/defaultValue']],
    ['a text for a number', { ...variable, type: 'number', defaultValue: '7' }, ['/defaultValue']],
    ['a default that is too large', { ...variable, defaultValue: 'x'.repeat(65_536) }, ['/defaultValue']],
    ['secrets', { ...variable, secrets: { a: 'b' } }, ['/secrets']],
  ])('refuses %s', async (_what, configuration, places) => {
    expect(await faultsOf('INTERNAL_VARIABLE', configuration)).toEqual(places);
  });
});
