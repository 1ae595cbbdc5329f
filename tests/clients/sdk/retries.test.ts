import { ConnectionError, GuildhallError, guildhall, type Retry, TimeoutError } from '../../../clients/sdk/index.ts';
import type { GuildhallOptions } from '../../../clients/sdk/options.ts';
import { pause, waitAfter } from '../../../clients/sdk/retry.ts';
import { apiError, hangUp, json, type OddServer, silence, startOddServer } from '../../support/clients/oddServer.ts';
import { poll } from '../../support/poll.ts';

let server: OddServer;
beforeAll(async () => {
  server = await startOddServer();
});
afterAll(() => server.close());

const client = (options: GuildhallOptions = {}) => guildhall({ apiKey: 'gsk_key', baseUrl: server.origin, ...options });
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error) => error,
  );
const soon = { 'retry-after': '0' };
const agent = { path: { agentPublicId: '0199a3f2-0000-7000-8000-00000000dead' } };
const tool = { path: { httpToolPublicId: '0199a3f2-0000-7000-8000-00000000dead' }, body: {} };

describe('429 and 503', () => {
  test('are sent again after the time that the service asks for', async () => {
    const waits: Retry[] = [];
    server.script(apiError(429, 'RATE_LIMITED', soon), apiError(503, 'UNAVAILABLE', soon), json(200, { status: 'ok' }));
    expect(await client({ onRetry: (retry) => waits.push(retry) }).call('getHealth')).toEqual({ status: 'ok' });
    expect(server.received.length).toBe(3);
    expect(waits.map(({ status }) => status)).toEqual([429, 503]);
  });

  test('are an error when they do not end', async () => {
    server.script(apiError(429, 'RATE_LIMITED', soon));
    const error = await thrown(client({ retries: 1 }).call('getHealth'));
    expect(error).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfterSeconds: 0, requestId: 'request-1' });
    expect(server.received.length).toBe(2);
  });

  test('are an error at once when the service asks for more than a minute', async () => {
    server.script(apiError(503, 'UNAVAILABLE', { 'retry-after': '3600' }));
    expect(await thrown(client().call('getHealth'))).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 3600 });
    expect(server.received.length).toBe(1);
  });

  test.each([
    // name, status, Retry-After, safe, whether it waits, and for how many seconds at least
    ['seconds', 429, '7', false, 7],
    ['a date', 503, 'Sun, 22 Nov 2026 10:00:30 GMT', false, 30],
    ['a date that has passed', 503, 'Sun, 22 Nov 2026 09:00:00 GMT', false, 0],
    ['nothing, after 429', 429, undefined, false, 0],
    ['nothing, after 503 of a safe request', 503, undefined, true, 0],
    ['nothing, after 503 of one that is not safe', 503, undefined, false, undefined],
    ['nonsense, after 503 of one that is not safe', 503, 'later', false, undefined],
    ['a minute', 429, '60', false, 60],
    ['more than a minute', 429, '61', true, undefined],
    ['a first request that is still running', 409, '1', true, 1],
    ['another conflict', 409, undefined, true, undefined],
    ['an error of the service', 500, '1', true, undefined],
  ])('wait for %s', (_, status, retryAfter, safe, seconds) => {
    const response = new Response('', {
      status,
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    });
    const wait = waitAfter(response, safe, 0, Date.parse('2026-11-22T10:00:00Z'));
    if (seconds === undefined) return expect(wait).toBeUndefined();
    expect(wait).toBeGreaterThanOrEqual(seconds * 1000);
    expect(wait).toBeLessThanOrEqual(seconds * 1000 + 250);
  });

  test('a wait ends when the caller goes', async () => {
    const controller = new AbortController();
    server.script(apiError(429, 'RATE_LIMITED', { 'retry-after': '50' }));
    const reason = new Error('No longer wanted.');
    const options = { onRetry: () => controller.abort(reason) };
    expect(await thrown(client(options).call('getHealth', { signal: controller.signal }))).toBe(reason);
    expect(server.received.length).toBe(1);
    await expect(pause(50_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('a lost connection', () => {
  const lostAnswer = (response: Parameters<typeof hangUp>[0]) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"status":');
    setImmediate(() => response.destroy());
  };

  test.each([
    ['before the answer', hangUp],
    ['in the middle of it', lostAnswer],
  ])('is tried again where that is safe: %s', async (_, step) => {
    server.script(step, json(200, { status: 'ok' }));
    expect(await client().call('getHealth')).toEqual({ status: 'ok' });
    expect(server.received.length).toBe(2);
  });

  test('repeats the key of an operation that takes one', async () => {
    server.script(hangUp, json(201, { publicId: 'x' }));
    await client().call('createAgent', { body: { name: 'Shop' } });
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(server.received.map(({ body }) => body)).toEqual(['{"name":"Shop"}', '{"name":"Shop"}']);
    await client().call('createAgent', { body: { name: 'Shop' }, idempotencyKey: 'mine' });
    expect(server.received.at(-1)?.headers['idempotency-key']).toBe('mine');
    await client().http.POST('/agents', { body: { name: 'Shop' } });
    await client().send({ method: 'POST', path: '/agents', body: '{}' });
    const last = server.received.slice(-2).map(({ headers }) => headers['idempotency-key']);
    expect(new Set([keys[0], ...last]).size).toBe(3);
  });

  test('repeats an upload with its file', async () => {
    server.script(hangUp, json(201, {}));
    const file = { data: new TextEncoder().encode('Ask first.'), name: 'SKILL.md', type: 'text/markdown' };
    await client().call('uploadSkill', { file });
    expect(server.received.length).toBe(2);
    for (const { body } of server.received) {
      expect(body).toContain('name="file"; filename="SKILL.md"\r\nContent-Type: text/markdown\r\n\r\nAsk first.');
    }
  });

  test.each([
    ['a request without a key', () => client().call('testTool', tool as never)],
    ['a change of fields', () => client().call('updateAgent', { ...agent, body: { name: 'x' } })],
    [
      'a body that is a stream',
      () => client().send({ method: 'POST', path: 'agents', body: new Blob(['{}']).stream() }),
    ],
  ])('is not tried again for %s', async (_, work) => {
    server.script(hangUp, json(200, {}));
    const error = await thrown(work());
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toBe(`${server.origin} closed the connection before its answer was complete.`);
    expect(server.received.length).toBe(1);
  });

  test('that was never made is tried again for every request', async () => {
    const gone = await startOddServer();
    await gone.close();
    const waits: Retry[] = [];
    const api = client({ baseUrl: gone.origin, retries: 1, onRetry: (retry) => waits.push(retry) });
    const error = await thrown(api.call('updateAgent', { ...agent, body: { name: 'x' } }));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'ECONNREFUSED' });
    expect((error as Error).message).toBe(`Nothing listens at ${gone.origin}.`);
    expect(waits.map(({ error: { name } = new Error() }) => name)).toEqual(['ConnectionError']);
  });

  test('is tried no more than asked', async () => {
    server.script(hangUp);
    expect(await thrown(client({ retries: 0 }).call('getHealth'))).toBeInstanceOf(ConnectionError);
    expect(server.received.length).toBe(1);
  });
});

describe('time', () => {
  const half = (response: Parameters<typeof hangUp>[0]) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"status":');
  };

  test.each([
    ['that does not begin', silence],
    ['that does not end', half],
  ])('an answer %s is a TimeoutError, and is not asked for again', async (_, step) => {
    server.script(step);
    const error = await thrown(client().call('getHealth', { timeoutMs: 200 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect((error as Error).message).toBe(`${server.origin} did not answer within 0.2 seconds.`);
    expect(server.received.length).toBe(1);
  });

  test('the caller can end a request that is under way', async () => {
    server.script(silence);
    const controller = new AbortController();
    const work = thrown(client({ signal: controller.signal }).call('getHealth'));
    await poll(
      () => server.received.length,
      (count) => count === 1,
    );
    controller.abort();
    expect(await work).toMatchObject({ name: 'AbortError' });
    const api = client({ signal: controller.signal });
    expect(await thrown(api.call('getHealth', { signal: new AbortController().signal }))).toMatchObject({
      name: 'AbortError',
    });
  });

  test.each([0, -1, Number.NaN])('%s is no time', (timeoutMs) => {
    expect(() => client({ timeoutMs })).toThrow('timeoutMs must be more than 0.');
  });

  test('Infinity is a time, and longer than a timer can count', async () => {
    server.script(json(200, { status: 'ok' }));
    expect(await client({ timeoutMs: Number.POSITIVE_INFINITY }).call('getHealth')).toEqual({ status: 'ok' });
  });
});

test('the error of one operation is not taken for that of another', async () => {
  server.script(apiError(404, 'AGENT_NOT_FOUND'));
  const error = await thrown(client().call('getAgent', agent));
  expect([GuildhallError.of(error, 'getAgent'), GuildhallError.of(error, 'updateAgent')]).toEqual([true, false]);
});
