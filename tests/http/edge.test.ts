import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { API_PREFIX, operations } from '../../generated/operations.ts';
import { createHttpServer } from '../../server/httpServer.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { exampleRequest, operationIds } from '../support/http/exampleRequest.ts';
import { until } from '../support/poll.ts';

/** What happens to a request before any route sees it, on plain sockets: clients and proxies write what they like. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Everything that the server sends for `text` until it closes the connection. */
async function exchange(text: string, origin = app.origin): Promise<string> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.on('error', () => {});
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.write(text);
  await once(socket, 'close');
  return received;
}

function parse(text: string): Answer {
  const end = text.indexOf('\r\n\r\n');
  const [top = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line) => [line.split(': ', 1)[0]?.toLowerCase(), line.slice(line.indexOf(': ') + 2)]);
  return { status: Number(top.split(' ')[1]), headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}

async function ask(text: string, origin?: string): Promise<Answer> {
  return parse(await exchange(text, origin));
}

/** The one shape of errors, with the headers of the API, on a connection that ends. */
function expectRefused({ status, headers, body }: Answer, expected: number, code: string, message: string): void {
  expect([status, headers.connection]).toEqual([expected, 'close']);
  const requestId = headers['x-request-id'];
  expect(requestId).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(JSON.parse(body)).toEqual({ code, message, status, requestId, details: [] });
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
}

const ONE_HOST = 'The request must have exactly one Host header.';

describe('Host', () => {
  test.each([
    ['two that differ', 'Host: a\r\nHost: b\r\n'],
    ['two that are equal', 'Host: a\r\nhost: a\r\n'],
    ['three in other letters', 'hOST: a\r\nHOST: \r\nHost: b\r\n'],
    ['none', ''],
  ])('%s: 400', async (_what, hosts) => {
    for (const path of ['/livez', `${API_PREFIX}/health`, '/nowhere']) {
      const answer = await ask(`GET ${path} HTTP/1.1\r\n${hosts}X-Api-Key: ${app.workspace.apiKey}\r\n\r\n`);
      expectRefused(answer, 400, 'VALIDATION_ERROR', ONE_HOST);
    }
  });

  test('the request that follows on the connection is not read', async () => {
    const text =
      'POST /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 4\r\n\r\nGET GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
    expect((await exchange(text)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
  });

  test('HTTP/1.0 needs none', async () => {
    expect((await ask('GET /livez HTTP/1.0\r\n\r\n')).status).toBe(200);
    expectRefused(await ask('GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'), 400, 'VALIDATION_ERROR', ONE_HOST);
  });
});

describe('a target in absolute form', () => {
  const get = (target: string) =>
    ask(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${app.workspace.apiKey}\r\nConnection: close\r\n\r\n`);

  test.each(['http://localhost', 'HTTP://agents.example.com:8080', 'https://agents.example.com', 'http://[::1]:3000'])(
    'with %s is served',
    async (origin) => {
      expect(await get(`${origin}/livez`)).toMatchObject({ status: 200, body: '{"status":"ok"}' });
      expect((await get(`${origin}/readyz?x=/livez`)).status).toBe(200);
      const health = await get(`${origin}${API_PREFIX}/health`);
      expect([health.status, JSON.parse(health.body).status]).toEqual([200, 'ok']);
      const listed = await get(`${origin}${API_PREFIX}/agents?limit=7&page=2`);
      expect(JSON.parse(listed.body)).toMatchObject({ limit: 7, page: 2 });
    },
  );

  test.each([
    'http://localhost',
    'http://localhost/',
    'http://localhost?a=1',
    'http://localhost/http://localhost/livez',
  ])('%s is a path that is not there', async (target) => {
    const { status, body } = await get(target);
    expect([status, JSON.parse(body).code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('what Node would answer without a body', () => {
  const sendUnknown = (expect: string) =>
    ask(`POST ${API_PREFIX}/agents HTTP/1.1\r\nHost: a\r\nExpect: ${expect}\r\nContent-Length: 2\r\n\r\n`);

  test.each(['200-ok', '100-maybe', 'x'])('an Expect of %s: 417', async (expected) => {
    const message = 'The only Expect that is known here is 100-continue.';
    expectRefused(await sendUnknown(expected), 417, 'EXPECTATION_FAILED', message);
  });

  test('the caller’s request id comes back', async () => {
    const { headers } = await ask('GET /livez HTTP/1.1\r\nX-Request-Id: mine-1\r\n\r\n');
    expect(headers['x-request-id']).toBe('mine-1');
  });

  test.each([
    ['noise', 'noise\r\n\r\n', 'This is not a valid HTTP request.'],
    [
      'a head over 16 KiB',
      `GET /livez HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      'The address and headers of the request are over 16 KiB.',
    ],
    [
      'extensions of chunks over 16 KiB',
      `POST /nowhere HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      'This is not a valid HTTP request.',
    ],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', 'This is no proxy: there is no CONNECT.'],
  ])('%s: 400', async (_what, text, message) => {
    const received = (await exchange(text)).replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    // A body is found wrong only after the head, which may have been answered: then nothing may follow that answer.
    if (received.startsWith('HTTP/1.1 404')) expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    else expectRefused(parse(received), 400, 'VALIDATION_ERROR', message);
  });

  test.each([
    ['a head', 'GET /livez HTTP/1.1\r\nHost'],
    ['a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'],
  ])('%s that does not arrive: 408', async (_what, text) => {
    const http = createHttpServer({ headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 20 });
    // Never answers by itself.
    http.handle(() => {});
    const origin = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
    expectRefused(await ask(text, origin), 408, 'REQUEST_TIMEOUT', 'The request did not arrive in time.');
    await http.close();
  });

  test('an error never stands in the middle of an answer that has begun', async () => {
    const http = createHttpServer();
    const begun = (_request: IncomingMessage, response: ServerResponse) => response.writeHead(200).write('half');
    http.handle(begun);
    const origin = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
    const received = await exchange('GET / HTTP/1.1\r\nHost: a\r\n\r\nnoise\r\n\r\n', origin);
    expect(received).not.toContain('400');
    await http.close();
  });
});

test('a client that asks for a tunnel and breaks the connection, or keeps it, does no harm', async () => {
  const connectTo = `CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat(100_000)}`;
  for (let round = 0; round < 20; round += 1) {
    const socket = connect(Number(new URL(app.origin).port), '127.0.0.1').on('error', () => {});
    socket.write(connectTo);
    if (round % 2 === 0) await once(socket, 'data');
    else await once(socket, 'connect');
    socket.resetAndDestroy();
  }
  const keeping = connect({ port: Number(new URL(app.origin).port), host: '127.0.0.1', allowHalfOpen: true });
  keeping.on('error', () => {}).resume();
  keeping.write(connectTo);
  // Closed by the service, though this side never ends it: what it sends then is refused.
  const closed = new Promise((resolve) => keeping.once('close', resolve));
  const more = setInterval(() => keeping.write('x'), 1_500);
  await closed;
  clearInterval(more);
  expect((await app.raw.get('/livez')).status).toBe(200);
});

test('before there is a service, the port is alive and not ready', async () => {
  const http = createHttpServer();
  const origin = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
  const get = async (path: string) => {
    const answer = await fetch(origin + path);
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  expect(await get('/livez')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await get('/readyz')).toMatchObject({ status: 503, body: { status: 'unavailable' } });
  const early = await get(`${API_PREFIX}/health`);
  expect(early).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
  expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
  http.cut();
  await http.close();
});

test('an answer that ends its connection is the last of those that the connection waits for', async () => {
  const http = createHttpServer();
  const waiting = new Map<string, ServerResponse>();
  http.handle((request, response) => void waiting.set(request.url ?? '', response));
  const origin = `http://127.0.0.1:${await http.listen(0, '127.0.0.1')}`;
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const received = exchange(get('/1') + get('/2'), origin);
  const other = exchange(get('/3'), origin);
  await until(() => waiting.size === 3);
  http.drain();
  for (const [path, response] of waiting) response.end(path);
  const answers = (await received).split(/(?=HTTP\/1\.1)/).map(parse);
  expect(answers.map(({ headers, body }) => [body, headers.connection])).toEqual([
    ['/1', 'keep-alive'],
    ['/2', 'close'],
  ]);
  expect(parse(await other)).toMatchObject({ body: '/3', headers: { connection: 'close' } });
  // Those that come later, too.
  waiting.clear();
  const late = exchange(get('/4') + get('/5') + get('/6'), origin);
  await until(() => waiting.size === 3);
  for (const [path, response] of waiting) response.end(path);
  expect((await late).match(/^\/\d|(?<=\n)\/\d|Connection: close/g)).toEqual(['/4', '/5', 'Connection: close', '/6']);
  await http.close();
});

describe('HEAD', () => {
  const pages = [
    '/livez',
    '/readyz',
    '/docs',
    '/docs/licenses.txt',
    '/openapi.json',
    '/nowhere',
    `${API_PREFIX}/nowhere`,
  ];
  const reads = operationIds
    .filter((id) => operations[id].method === 'GET')
    .map((id) => API_PREFIX + exampleRequest(id).path);

  /** Headers that differ from one request to the next, and that of a body's framing, which HEAD has none of. */
  const own = ['date', 'x-request-id', 'transfer-encoding'];

  async function answerTo(method: string, path: string, key: string): Promise<Answer> {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: a', `X-Api-Key: ${key}`, 'X-Request-Id: r', 'Connection: close'];
    const answer = await ask(`${head.join('\r\n')}\r\n\r\n`);
    for (const name of own) delete answer.headers[name];
    return answer;
  }

  test.each([...reads, ...pages])('%s answers as GET does, without a body', async (path) => {
    for (const key of [app.workspace.apiKey, 'wrong']) {
      const [get, head] = [await answerTo('GET', path, key), await answerTo('HEAD', path, key)];
      expect(get.body).not.toBe('');
      expect(head).toEqual({ ...get, body: '' });
    }
  });
});
