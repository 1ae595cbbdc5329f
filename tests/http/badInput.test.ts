import { gzipSync } from 'node:zlib';
import { API_PREFIX, type OperationId, operations } from '../../generated/operations.ts';
import { tableContents } from '../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { bodySchema, exampleRequest, operationIds, takesJson } from '../support/http/exampleRequest.ts';
import { mutationsOf } from '../support/http/mutations.ts';
import { processorMs } from '../support/processorTime.ts';

/** Bodies that no operation takes, computed from the document; none may get further than 400, and none may write. */

let app: TestApp;
let agentId: string;
let before: Record<string, string>;

beforeAll(async () => {
  app = await startTestApp();
  agentId = (await app.api('post', '/agents').send({ name: 'Target', categories: ['a'] })).body.publicId;
  before = await tableContents(app.database.name);
});
afterAll(() => app.close());

type Answer = { status: number; body: { code: string; details: { path: string; message: string; keyword: string }[] } };

/** Sends a body as it is to the operation; an agent of the path is one that exists. */
async function send(id: OperationId, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const { method, path } = exampleRequest(id);
  const answer = await fetch(app.origin + API_PREFIX + path.replace(/^\/agents\/[^/]+/, `/agents/${agentId}`), {
    method: method.toUpperCase(),
    headers: { 'X-Api-Key': app.workspace.apiKey, 'Content-Type': 'application/json', ...headers },
    body: body as string,
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

const jsonOperations = operationIds.filter(takesJson);
const required = jsonOperations.filter((id) => operations[id].bodyRequired);

describe('a body that breaks the schema in one place', () => {
  test.each(jsonOperations)('%s names the place', async (id) => {
    const schema = bodySchema(id);
    if (!schema) throw new Error('no schema');
    const wrong: string[] = [];
    let count = 0;
    for (const { what, pointer, body } of mutationsOf(schema, exampleRequest(id).body)) {
      // That is no body, which is allowed here.
      if (body === null && !operations[id].bodyRequired) continue;
      count += 1;
      const { status, body: answer } = await send(id, JSON.stringify(body));
      const there = `/body${pointer}`;
      const named = answer.details?.some(({ path }) => path === there || path.startsWith(`${there}/`));
      if (status !== 400 || answer.code !== 'VALIDATION_ERROR' || !named) {
        wrong.push(`${there} ${what}: ${status} ${answer.code} ${JSON.stringify(answer.details?.slice(0, 3))}`);
      }
    }
    expect(count).toBeGreaterThan(6);
    expect(wrong).toEqual([]);
  });

  test('the place is a JSON Pointer, whatever an unknown field is called', async () => {
    const { body } = await send('createAgent', JSON.stringify({ name: 'x', 'a/b~c': 1 }));
    expect(body.details.map(({ path }) => path)).toEqual(['/body/a~1b~0c']);
  });

  test('every fault of a body is named, not only the first', async () => {
    const { body } = await send('createAgent', JSON.stringify({ name: '', categories: [1], surprise: true }));
    expect(body.details.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/body/name', '/body/categories/0', '/body/surprise']),
    );
  });
});

describe('a number out of range', () => {
  const timeout = (timeoutSeconds: number) => send('sendMessage', JSON.stringify({ content: 'Hello', timeoutSeconds }));

  test.each([0, 301, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e300])('%p is refused by its bound alone', async (value) => {
    const { status, body } = await timeout(value);
    expect(status).toBe(400);
    const message = value < 1 ? 'must be >= 1' : 'must be <= 300';
    const keyword = value < 1 ? 'minimum' : 'maximum';
    expect(body.details).toEqual([{ path: '/body/timeoutSeconds', message, keyword }]);
  });

  test('a fraction is refused by the type alone', async () => {
    const { body } = await timeout(1.5);
    expect(body.details).toEqual([{ path: '/body/timeoutSeconds', message: 'must be integer', keyword: 'type' }]);
  });
});

describe('a body that is no JSON', () => {
  test.each([
    ['cut off', '{"name": "x"'],
    ['two values', '{"name":"x"}{"name":"y"}'],
    ['a comment', '{"name":"x" /* why */}'],
    ['single quotes', "{'name':'x'}"],
    ['a trailing comma', '{"name":"x",}'],
    ['NaN', '{"name":NaN}'],
    ['a lone bracket', '['],
    ['blanks only', '   '],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
    ['NUL bytes', Buffer.alloc(20)],
    ['gzip without saying so', gzipSync('{"name":"x"}')],
  ])('%s', async (_what, body) => {
    const answer = await send('createAgent', body);
    expect([answer.status, answer.body.code, answer.body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', '/body']);
  });

  test.each(required)('%s needs a body', async (id) => {
    const answer = await send(id, '');
    expect([answer.status, answer.body.code, answer.body.details[0]?.path]).toEqual([400, 'VALIDATION_ERROR', '/body']);
  });

  test.each(jsonOperations)('%s refuses a body cut in the middle', async (id) => {
    const whole = JSON.stringify(exampleRequest(id).body);
    const answer = await send(id, whole.slice(0, Math.ceil(whole.length / 2)));
    expect([answer.status, answer.body.code, answer.body.details[0]?.keyword]).toEqual([
      400,
      'VALIDATION_ERROR',
      'parse',
    ]);
  });
});

describe('a body that is JSON and still none of ours', () => {
  const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;

  test.each([
    ['arrays', nested('[', ']', 10_000)],
    ['objects', nested('{"a":', '}', 10_000)],
    ['arrays of objects', nested('[{"a":', '}]', 10_000)],
    ['a field of arrays', `{"name":${nested('[', ']', 10_000)}}`],
    ['arrays as deep as 2 MiB allow', nested('[', ']', 1_000_000)],
  ])('%s nested 10,000 deep and more', async (_what, body) => {
    for (const id of ['createAgent', 'sendMessage', 'createTool'] as const) {
      const answer = await send(id, body);
      expect([answer.status, answer.body.code, answer.body.details[0]?.keyword]).toEqual([
        400,
        'VALIDATION_ERROR',
        'depth',
      ]);
    }
  });

  test.each([
    ['__proto__', '{"name":"x","__proto__":{"status":"active"}}'],
    ['constructor', '{"name":"x","constructor":{"prototype":{"status":"active"}}}'],
    ['prototype', '{"name":"x","prototype":{}}'],
    ['toString', '{"name":"x","toString":"y"}'],
    ['an empty name', '{"name":"x","":1}'],
    ['a name with a slash', '{"name":"x","a/b":1}'],
  ])('a field called %s is an unknown field like any other', async (_what, body) => {
    const answer = await send('createAgent', body);
    expect([answer.status, answer.body.details[0]?.keyword]).toEqual([400, 'additionalProperties']);
    expect(({} as Record<string, unknown>).status).toBeUndefined();
  });

  test('__proto__ in place of a required field does not stand in for it', async () => {
    const answer = await send('createAgent', '{"__proto__":{"name":"Sneaked"}}');
    expect(answer.status).toBe(400);
  });

  /** One request must not hold up the others: seconds are generous for 2 MiB, and it was a minute. */
  async function soon(id: OperationId, body: string): Promise<Answer> {
    let answer: Answer | undefined;
    const ms = await processorMs(async () => {
      answer = await send(id, body);
    });
    expect(ms).toBeLessThan(4000);
    return answer as unknown as Answer;
  }

  test('150,000 unknown fields', async () => {
    const answer = await soon(
      'createAgent',
      JSON.stringify(Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`a${i}`, 1]))),
    );
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.details.length).toBeLessThanOrEqual(50);
  });

  test('a million wrong items', async () => {
    const answer = await soon('createAgent', `{"name":"x","categories":[${'1,'.repeat(999_999)}2]}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  test('thousands of objects where each must differ from the others', async () => {
    const plan = exampleRequest('createPlan').body as { content: object };
    const agents = Array.from({ length: 6000 }, (_, i) => ({ x: i }));
    const answer = await soon('createPlan', JSON.stringify({ ...plan, content: { ...plan.content, agents } }));
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  test.each(jsonOperations)('%s is not slow to refuse long strings', async (id) => {
    const { body } = exampleRequest(id);
    if (typeof body !== 'object' || body === null) throw new Error('The example is no object.');
    // A run that ends wrongly is what makes a careless pattern go back and try again.
    const long = `${'a'.repeat(50_000)}!`;
    const all = Object.fromEntries(
      Object.entries(body).map(([key, value]) => [key, typeof value === 'string' ? long : value]),
    );
    const sent = JSON.stringify({ ...all, surprise: long });
    const ms = await processorMs(async () => expect((await send(id, sent)).status).toBe(400));
    expect(ms).toBeLessThan(1000);
  });
});

describe('a body in other clothes', () => {
  const good = '{"name":"Clothes"}';

  test.each([
    ['text/json', good, { 'Content-Type': 'text/json' }],
    ['application/merge-patch+json', good, { 'Content-Type': 'application/merge-patch+json' }],
    ['application/jsonx', good, { 'Content-Type': 'application/jsonx' }],
    ['no type', good, { 'Content-Type': '' }],
    ['another charset', good, { 'Content-Type': 'application/json; charset=utf-16' }],
    ['latin1', good, { 'Content-Type': 'application/json; charset="iso-8859-1"' }],
    ['gzip', gzipSync(good), { 'Content-Encoding': 'gzip' }],
    ['an encoding that does not exist', good, { 'Content-Encoding': 'wrapped' }],
  ])('%s is 415', async (_what, body, headers) => {
    const answer = await send('createAgent', body, headers);
    expect([answer.status, answer.body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset="UTF-8"; profile=x'])(
    '%s is JSON',
    async (type) => {
      const answer = await send('createAgent', '{"name":""}', { 'Content-Type': type });
      expect([answer.status, answer.body.details[0]?.path]).toEqual([400, '/body/name']);
    },
  );

  test('3 MB are too much, also when the length is not told', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    for (const headers of [{}, { 'Content-Length': String(3 * chunk.length) }] as Record<string, string>[]) {
      const request = app.api('post', '/agents').set('Content-Type', 'application/json').set(headers);
      for (let i = 0; i < 3; i += 1) request.write(chunk as unknown as string);
      const { status, body } = await request;
      expect([status, body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    }
  });

  test('2 MiB exactly are read', async () => {
    const answer = await send('createAgent', `{"name":""${' '.repeat(2 * 1024 * 1024 - 10 - 1)}}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('ids', () => {
  const unknownModel = '0199A3F2-0000-7000-8000-00000000DEAD';

  test('are taken in upper case, in a path and in a body', async () => {
    expect((await app.api('get', `/agents/${agentId.toUpperCase()}`)).body.publicId).toBe(agentId);
    const { status, body } = await app.api('patch', `/agents/${agentId}`).send({ aiModelPublicId: unknownModel });
    expect([status, body.code]).toEqual([404, 'AI_MODEL_NOT_FOUND']);
  });

  test('are taken in upper case in a query', async () => {
    expect((await app.api('get', `/conversations?agentPublicId=${agentId.toUpperCase()}`)).status).toBe(200);
  });
});

test('all of this has written nothing', async () => {
  expect(before.agents).toMatch(/^1 /);
  expect(await tableContents(app.database.name)).toEqual(before);
});
