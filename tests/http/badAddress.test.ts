import { handlers, pending } from '../../generated/handlers.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { tableContents } from '../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest, operationIds, parametersOf, resolve, takesJson } from '../support/http/exampleRequest.ts';

/** Paths and queries that no operation takes, computed from the document. */

let app: TestApp;
let agentId: string;
let before: Record<string, string>;

beforeAll(async () => {
  app = await startTestApp();
  agentId = (await app.api('post', '/agents').send({ name: 'Target' })).body.publicId;
  before = await tableContents(app.database.name);
});
afterAll(() => app.close());

const uploads = operationIds.filter((id) => operations[id].requestBody !== 'none' && !takesJson(id));

function send(id: OperationId, path: string, key?: string) {
  const { method, body } = exampleRequest(id);
  const request = app.api(method, path, key);
  return body === undefined ? request : request.send(body as object);
}

/** Expects a 400 that names the parameter. */
async function expectRefused(id: OperationId, path: string, at: string): Promise<void> {
  const { status, body } = await send(id, path);
  const named = body.details?.some(
    (detail: { path: string }) => detail.path === at || detail.path.startsWith(`${at}/`),
  );
  expect({ path, status, code: body.code, named }).toEqual({
    path,
    status: 400,
    code: 'VALIDATION_ERROR',
    named: true,
  });
}

const ofPath = operationIds.flatMap((id) =>
  parametersOf(id)
    .filter((each) => each.in === 'path')
    .map((each) => ({ id, name: each.name, schema: resolve(each.schema) })),
);

const ofQuery = operationIds.flatMap((id) =>
  parametersOf(id)
    .filter((each) => each.in === 'query')
    .map((each) => ({ id, name: each.name, schema: resolve(each.schema) })),
);

function pathWith(id: OperationId, name: string, text: string): string {
  const marked = exampleRequest(id).path.split('?');
  const template = operations[id].path.split('/');
  const segments = marked[0]?.split('/') ?? [];
  const path = segments.map((segment, i) => (template[i] === `{${name}}` ? text : segment)).join('/');
  return marked[1] === undefined ? path : `${path}?${marked[1]}`;
}

function queryWith(id: OperationId, ...pairs: string[]): string {
  const { path } = exampleRequest(id);
  const [start, query = ''] = path.split('?');
  const names = pairs.map((pair) => pair.split('=')[0]);
  const kept = query.split('&').filter((pair) => pair !== '' && !names.includes(pair.split('=')[0]));
  return `${start}?${[...kept, ...pairs].join('&')}`;
}

describe('a path parameter', () => {
  // Uploads look at their body first; until they are there, that is as far as a request gets.
  const checked = ofPath.filter(({ id }) => !uploads.includes(id));

  test.each(checked.filter(({ schema }) => schema.format === 'uuid'))(
    '$id: $name is a UUID as it is written here',
    async ({ id, name }) => {
      const uuid = '0199a3f2-0000-7000-8000-00000000dead';
      for (const text of [
        'x',
        '1',
        `urn:uuid:${uuid}`,
        `%7B${uuid}%7D`,
        uuid.replaceAll('-', ''),
        `${uuid}%0A`,
        'a%2Fb',
        '__proto__',
        'x'.repeat(5000),
      ])
        await expectRefused(id, pathWith(id, name, text), `/path/${name}`);
    },
  );

  test.each(ofPath)('$id: $name is percent-encoded UTF-8 that can be stored', async ({ id, name }) => {
    for (const text of ['%zz', '%', '%ff', '%c0%80', '%ed%a0%80', 'a%00b'])
      await expectRefused(id, pathWith(id, name, text), `/path/${name}`);
  });

  test.each(checked.filter(({ schema }) => schema.type === 'integer'))(
    '$id: $name is a plain whole number',
    async ({ id, name }) => {
      for (const text of ['0', '-1', '1.5', '1.0', '0x1', '1e0', '%201', '+1', 'one', '2147483648', '9'.repeat(400)])
        await expectRefused(id, pathWith(id, name, text), `/path/${name}`);
    },
  );

  test.each(checked.filter(({ schema }) => schema.enum))('$id: $name is one of a list', async ({ id, name }) => {
    for (const text of ['nonsense', 'toString']) await expectRefused(id, pathWith(id, name, text), `/path/${name}`);
  });
});

describe('a query parameter', () => {
  const typed = (type: string) => ofQuery.filter(({ schema }) => schema.type === type);

  test.each(typed('integer'))('$id: $name is a plain whole number within its bounds', async ({ id, name, schema }) => {
    const beyond = [String((schema.minimum ?? 0) - 1), String((schema.maximum ?? 0) + 1)];
    for (const text of [
      ...beyond,
      '',
      '0x10',
      '1e2',
      '1.5',
      '1.0',
      '%2B1',
      '%201',
      'NaN',
      'Infinity',
      '9'.repeat(400),
      '1,2',
    ])
      await expectRefused(id, queryWith(id, `${name}=${text}`), `/query/${name}`);
  });

  test.each(typed('boolean'))('$id: $name is true or false', async ({ id, name }) => {
    for (const text of ['', '1', '0', 'yes', 'TRUE', 'null'])
      await expectRefused(id, queryWith(id, `${name}=${text}`), `/query/${name}`);
  });

  test.each(ofQuery.filter(({ schema }) => schema.type !== 'array'))(
    '$id: $name comes once',
    async ({ id, name, schema }) => {
      const value = schema.enum?.[0] ?? (schema.type === 'boolean' ? 'true' : schema.type === 'integer' ? '1' : 'abc');
      await expectRefused(id, queryWith(id, `${name}=${value}`, `${name}=${value}`), `/query/${name}`);
      // The ways in which other servers nest are names that nobody knows here.
      await expectRefused(id, queryWith(id, `${name}[]=${value}`), `/query/${name}[]`);
      await expectRefused(id, queryWith(id, `${name}[$ne]=${value}`), `/query/${name}[$ne]`);
    },
  );

  test.each(ofQuery.filter(({ schema }) => schema.enum || schema.format))(
    '$id: $name has its own form',
    async ({ id, name }) => {
      for (const text of ['', 'nonsense', 'toString', '0'])
        await expectRefused(id, queryWith(id, `${name}=${text}`), `/query/${name}`);
    },
  );

  test.each(ofQuery.filter(({ schema }) => schema.maxLength))(
    '$id: $name has a greatest length',
    async ({ id, name, schema }) => {
      await expectRefused(id, queryWith(id, `${name}=${'a'.repeat((schema.maxLength ?? 0) + 1)}`), `/query/${name}`);
    },
  );

  test.each(typed('array'))('$id: $name has a greatest number', async ({ id, name, schema }) => {
    const pairs = Array.from({ length: (schema.maxItems ?? 0) + 1 }, (_, i) => `${name}=a${i}`);
    await expectRefused(id, queryWith(id, ...pairs), `/query/${name}`);
    await expectRefused(id, queryWith(id, `${name}=`), `/query/${name}`);
  });

  test.each(ofQuery)('$id: $name is percent-encoded UTF-8 that can be stored', async ({ id, name }) => {
    for (const text of ['%zz', '%', '%ff', 'a%00b']) {
      const { status, body } = await send(id, queryWith(id, `${name}=${text}`));
      expect({ text, status, code: body.code }).toEqual({ text, status: 400, code: 'VALIDATION_ERROR' });
    }
  });
});

describe('any query', () => {
  test.each(['__proto__=1', 'constructor=1', 'hasOwnProperty=1', '=1', 'a%00=1', 'x', '%5B%5D=1', 'Page=1', ' page=1'])(
    '%s is not a known parameter',
    async (query) => {
      const { status, body } = await app.api('get', `/agents?${encodeURI(query).replaceAll('%25', '%')}`);
      expect([status, body.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );

  test('an empty one is none', async () => {
    for (const path of ['/agents?', '/agents?&', '/agents?&&page=1&'])
      expect((await app.api('get', path)).status).toBe(200);
  });

  test('the last page of all is empty and costs no error', async () => {
    const { status, body } = await app.api('get', '/agents?page=1000000&limit=100');
    expect([status, body]).toEqual([200, { items: [], page: 1_000_000, limit: 100, total: 1, totalPages: 1 }]);
  });

  test('more parameters than anyone needs', async () => {
    const many = Array.from({ length: 1500 }, (_, i) => `a${i}=1`).join('&');
    expect((await app.api('get', `/agents?${many}`)).status).toBe(400);
    // The parser of queries stops after a thousand: what comes later must not slip through.
    const { status } = await app.api('get', `/agents?${'&'.repeat(1200)}surprise=1`);
    expect(status).toBe(400);
    expect((await app.api('get', `/agents?${'search=a&'.repeat(1200)}surprise=1`)).status).toBe(400);
  });

  test('a query of 12 KB', async () => {
    expect((await app.api('get', `/agents?search=${'a'.repeat(12_000)}`)).status).toBe(400);
  });
});

describe('another workspace’s id', () => {
  const owned = operationIds.filter(
    (id) => !pending.includes(id) && operations[id].path.startsWith('/agents/{agentPublicId}') && id in handlers,
  );

  test.each(owned)('%s answers as if it did not exist', async (id) => {
    const { path } = exampleRequest(id);
    const missing = await send(id, path, app.stranger.apiKey);
    const foreign = await send(id, path.replace(/^\/agents\/[^/]+/, `/agents/${agentId}`), app.stranger.apiKey);
    expect(foreign.status).toBe(404);
    const { requestId: _first, ...asMissing } = missing.body;
    const { requestId: _second, ...asForeign } = foreign.body;
    expect([foreign.status, asForeign]).toEqual([missing.status, asMissing]);
  });
});

test('all of this has written nothing', async () => {
  expect(before.agents).toMatch(/^1 /);
  expect(await tableContents(app.database.name)).toEqual(before);
});
