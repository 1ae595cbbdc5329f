// Longer than most: one file, because each part runs over all operations on the same three applications.
import { mintApiKey } from '../../core/apiKey.ts';
import { revokeApiKey } from '../../db/queries/workspaces/apiKeys.ts';
import { pending } from '../../generated/handlers.ts';
import { API_PREFIX, type OperationId, operations } from '../../generated/operations.ts';
import type { Handlers } from '../../handlers/handler.ts';
import { adminQuery } from '../support/db/database.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest, operationIds, takesJson } from '../support/http/exampleRequest.ts';

/** What every operation answers, whatever it does: computed from the document, so that a new operation is in it at once. */

const SECRET = 'relation "api_keys" of postgres://guildhall:hunter2@db';
const throwing = Object.fromEntries(
  operationIds.map((id) => [
    id,
    async () => {
      throw new Error(SECRET);
    },
  ]),
) as Handlers;

let app: TestApp;
let failing: TestApp;
let limited: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  failing = await startTestApp({ handlers: throwing });
  limited = await startTestApp({ rateLimit: 1 });
  await limited.api('get', '/health');
});

afterAll(async () => {
  await Promise.all([app?.close(), failing?.close(), limited?.close()]);
});

const bodies = operationIds.filter((id) => operations[id].requestBody !== 'none');
const jsonOnly = bodies.filter((id) => operations[id].requestBody === 'json');
const uploads = bodies.filter((id) => !takesJson(id));

type Answer = { status: number; headers: Record<string, string>; body: Record<string, unknown> };

/** The one shape of every error, and that it came with its request id. */
function expectError(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'details', 'message', 'requestId', 'status']);
  expect(answer.body).toMatchObject({ status, details: expect.any(Array), message: expect.stringMatching(/\S\.$/) });
  expect(answer.headers['x-request-id']).toBe(answer.body.requestId);
  expect([answer.headers['cache-control'], answer.headers['x-content-type-options']]).toEqual(['no-store', 'nosniff']);
}

/** Sends the operation's example request with `key`. */
function send(on: TestApp, id: OperationId, key?: string) {
  const { method, path, body } = exampleRequest(id);
  const request = on.api(method, path, key);
  if (uploads.includes(id)) return request.attach('file', Buffer.from('x'), 'SKILL.md');
  return body === undefined ? request : request.send(body as object);
}

/** Sends it without a key; the test adds headers. */
function sendBare(id: OperationId) {
  const { method, path } = exampleRequest(id);
  return app.raw[method](API_PREFIX + path);
}

describe('401', () => {
  const challenge = expect.stringMatching(/^Bearer\b/);

  test.each(operationIds)('%s needs a key', async (id) => {
    const answer = await sendBare(id);
    expectError(answer, 401, 'MISSING_API_KEY');
    expect(answer.headers['www-authenticate']).toEqual(challenge);
  });

  test.each(operationIds)('%s refuses a key of another form', async (id) => {
    const answer = await sendBare(id).set('Authorization', 'Bearer gsk_nonsense');
    expectError(answer, 401, 'INVALID_API_KEY_FORMAT');
    expect(answer.headers['www-authenticate']).toEqual(challenge);
  });

  test.each(operationIds)('%s refuses a key that nobody has', async (id) => {
    const answer = await sendBare(id).set('X-Api-Key', mintApiKey());
    expectError(answer, 401, 'INVALID_API_KEY');
    expect(answer.headers['www-authenticate']).toEqual(challenge);
  });

  test('X-Api-Key wins over Authorization', async () => {
    const key = app.workspace.apiKey;
    const good = await sendBare('getHealth').set('X-Api-Key', key).set('Authorization', `Bearer ${mintApiKey()}`);
    expect(good.status).toBe(200);
    const bad = await sendBare('getHealth').set('X-Api-Key', mintApiKey()).set('Authorization', `Bearer ${key}`);
    expectError(bad, 401, 'INVALID_API_KEY');
  });

  test.each([
    ['another scheme', { Authorization: 'Basic Z3NrXw==' }, 'MISSING_API_KEY'],
    ['no token', { Authorization: 'Bearer' }, 'MISSING_API_KEY'],
    ['an empty key', { 'X-Api-Key': '' }, 'MISSING_API_KEY'],
    ['a key with one character changed', { 'X-Api-Key': 'changed' }, 'INVALID_API_KEY'],
    ['a key with a character that keys do not have', { 'X-Api-Key': 'dashed' }, 'INVALID_API_KEY'],
    ['a key with another prefix', { 'X-Api-Key': 'prefix' }, 'INVALID_API_KEY_FORMAT'],
    ['a key cut short', { 'X-Api-Key': 'short' }, 'INVALID_API_KEY_FORMAT'],
    ['a key in the query only', {}, 'MISSING_API_KEY'],
  ])('%s is no key', async (what, headers, code) => {
    const key = app.workspace.apiKey;
    const wrong: Record<string, string> = {
      changed: `${key.slice(0, 10)}${key[10] === 'a' ? 'b' : 'a'}${key.slice(11)}`,
      dashed: `${key.slice(0, 10)}-${key.slice(11)}`,
      prefix: `key_${key.slice(4)}`,
      short: key.slice(0, -1),
    };
    const request = app.raw.get(`${API_PREFIX}/health${what.includes('query') ? `?apiKey=${key}` : ''}`);
    for (const [name, value] of Object.entries(headers)) request.set(name, wrong[value] ?? value);
    expectError(await request, 401, code);
  });

  test('the answer does not repeat the key', async () => {
    const key = mintApiKey();
    const { text, headers } = await sendBare('getHealth').set('X-Api-Key', key);
    expect(text + JSON.stringify(headers)).not.toContain(key);
  });

  /** Asks until the key is refused; the deadline is a good deal under the time that a key would be trusted unasked. */
  async function refusedWithin(key: string, milliseconds: number): Promise<Answer> {
    for (const deadline = Date.now() + milliseconds; ; ) {
      const answer = await app.api('get', '/health', key);
      if (answer.status !== 200 || Date.now() > deadline) return answer;
    }
  }

  test('a revoked key ends at once, though it was just used', async () => {
    const { apiKey, apiKeyId } = await app.database.seedWorkspace();
    expect((await app.api('get', '/health', apiKey)).status).toBe(200);
    await revokeApiKey(app.database.database.system, apiKeyId);
    expectError(await refusedWithin(apiKey, 2000), 401, 'INVALID_API_KEY');
  });

  test('revoking one key leaves the others of the workspace', async () => {
    const { apiKey, apiKeyId } = await app.database.seedWorkspace();
    await revokeApiKey(app.database.database.system, apiKeyId);
    expectError(await refusedWithin(apiKey, 2000), 401, 'INVALID_API_KEY');
    expect((await app.api('get', '/health')).status).toBe(200);
  });

  test('the key of a deleted workspace is refused', async () => {
    const { apiKey, workspaceId } = await app.database.seedWorkspace();
    await app.database.database.system
      .updateTable('workspaces')
      .set({ deleted_at: new Date() })
      .where('id', '=', workspaceId)
      .execute();
    expectError(await app.api('get', '/health', apiKey), 401, 'INVALID_API_KEY');
  });
});

describe('400', () => {
  test.each(operationIds)('%s refuses an unknown query parameter by name', async (id) => {
    const answer = await send(app, id).query({ utm_source: 'x' });
    expectError(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.details).toContainEqual(expect.objectContaining({ path: '/query/utm_source' }));
  });

  test.each(operationIds)('%s refuses a query with NUL', async (id) => {
    const { method, path } = exampleRequest(id);
    const answer = await app.api(method, `${path}${path.includes('?') ? '&' : '?'}utm_source=%00`);
    expectError(answer, 400, 'VALIDATION_ERROR');
    expect(answer.body.details).toContainEqual(expect.objectContaining({ path: '/query/utm_source', keyword: 'text' }));
  });
});

describe('413', () => {
  const tooLarge = Buffer.alloc(2 * 1024 * 1024 + 1, 0x20);

  test.each(bodies.filter(takesJson))('%s refuses more than 2 MiB of JSON', async (id) => {
    const { method, path } = exampleRequest(id);
    const answer = await app.api(method, path).set('Content-Type', 'application/json').send(tooLarge.toString());
    expectError(answer, 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('415', () => {
  test.each(bodies)('%s refuses text', async (id) => {
    const { method, path } = exampleRequest(id);
    const answer = await app.api(method, path).set('Content-Type', 'text/plain').send('{}');
    expectError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test.each(jsonOnly)('%s refuses a form, encoded one way or the other', async (id) => {
    const { method, path } = exampleRequest(id);
    expectError(await app.api(method, path).type('form').send('name=x'), 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectError(await app.api(method, path).field('name', 'x'), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('429', () => {
  test.each(operationIds)('%s counts against the rate of the key', async (id) => {
    const answer = await send(limited, id);
    expectError(answer, 429, 'RATE_LIMITED');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers.ratelimit).toMatch(/\br=0;\s*t=\d+/);
    expect(answer.headers['ratelimit-policy']).toMatch(/q=1;\s*w=60/);
  });

  test('another key has its own rate, and learns what is left of it', async () => {
    const answer = await limited.api('get', '/health', limited.stranger.apiKey);
    expect(answer.status).toBe(200);
    expect(answer.headers.ratelimit).toMatch(/\br=0;/);
  });

  test('without a limit there are no headers about one', async () => {
    expect((await app.api('get', '/health')).headers).not.toHaveProperty('ratelimit');
  });
});

describe('500', () => {
  test.each(operationIds)('%s tells nothing of what went wrong inside', async (id) => {
    const answer = await send(failing, id);
    expectError(answer, 500, 'INTERNAL_ERROR');
    expect(answer.body.details).toEqual([]);
    expect(answer.text + JSON.stringify(answer.headers)).not.toMatch(/hunter2|api_keys|\.ts\b|Error:/);
  });

  test('nor does any operation when the tables are not those that the service knows', async () => {
    await adminQuery('alter table api_keys rename to other_keys', failing.database.name);
    for (const id of operationIds) {
      const answer = await send(failing, id, mintApiKey());
      expectError(answer, 500, 'INTERNAL_ERROR');
      expect(answer.text).not.toMatch(/api_keys|relation|42P01/);
    }
  });
});

describe('503', () => {
  beforeAll(() => app.service.setReady(false));
  afterAll(() => app.service.setReady(true));

  test.each(operationIds)('%s waits while the service starts or drains', async (id) => {
    const answer = await send(app, id);
    expectError(answer, 503, 'UNAVAILABLE');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('501', () => {
  test('an operation in the burn-down list is of a later release', async () => {
    for (const id of operationIds.filter((each) => pending.includes(each)))
      expectError(await send(app, id), 501, 'NOT_IMPLEMENTED');
  });

  test.each(operationIds.filter((id) => !pending.includes(id)))('%s is of this release', async (id) => {
    const { status } = await send(app, id);
    expect(status).not.toBe(501);
    expect(status).toBeLessThan(500);
  });
});

describe('405', () => {
  const paths = Map.groupBy(operationIds, (id) => operations[id].path);

  test.each([...paths.keys()])('%s says which methods it takes', async (path) => {
    const ids = paths.get(path) ?? [];
    const methods = ids.map((id) => operations[id].method as string);
    const allowed = (methods.includes('GET') ? [...methods, 'HEAD'] : methods).sort();
    const example = exampleRequest(ids[0] as OperationId).path;
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      if (allowed.includes(method)) continue;
      const answer = await fetch(app.origin + API_PREFIX + example, {
        method,
        headers: { 'X-Api-Key': app.workspace.apiKey },
      });
      const headers = Object.fromEntries(answer.headers);
      const text = await answer.text();
      if (method === 'HEAD') expect([answer.status, text]).toEqual([405, '']);
      else expectError({ status: answer.status, headers, body: JSON.parse(text) }, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(allowed);
    }
  });
});

describe('404', () => {
  test.each(['/', '/agent', '/agents/', '/agents//versions', '/health/x', '//health', '/agents/a/b/c/d/e/f'])(
    'there is nothing at %s',
    async (path) => {
      expectError(await app.api('get', path), 404, 'NOT_FOUND');
    },
  );

  test.each(['/', '/public', '/public/api/v2/health', '/health', '/favicon.ico', '/__proto__', '/constructor'])(
    'there is nothing at %s of the origin',
    async (path) => {
      expectError(await app.raw.get(path), 404, 'NOT_FOUND');
    },
  );
});

describe('X-Request-Id', () => {
  test('is the caller’s own where there is one', async () => {
    const answer = await app.api('get', '/agents/nonsense').set('X-Request-Id', 'trace.me-1_A');
    expect(answer.headers['x-request-id']).toBe('trace.me-1_A');
    expect(answer.body.requestId).toBe('trace.me-1_A');
    const good = await app.api('get', '/health').set('X-Request-Id', 'trace.me-2');
    expect(good.headers['x-request-id']).toBe('trace.me-2');
  });

  test.each([undefined, '', 'with space', 'a'.repeat(129), '<script>', 'ü'])('is made for %j', async (given) => {
    const request = app.api('get', '/health');
    if (given !== undefined) request.set('X-Request-Id', Buffer.from(given).toString('latin1'));
    const made = (await request).headers['x-request-id'];
    expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });

  test('differs from request to request', async () => {
    const ids = await Promise.all(
      [1, 2, 3, 4].map(async () => (await app.api('get', '/health')).headers['x-request-id']),
    );
    expect(new Set(ids).size).toBe(4);
  });
});
