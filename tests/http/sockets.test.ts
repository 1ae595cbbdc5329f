import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tableContents } from '../support/db/tableContents.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';

/** Clients that do not behave, on plain sockets. */

let app: TestApp;
let before: Record<string, string>;

beforeAll(async () => {
  app = await startTestApp();
  await app.api('post', '/agents').send({ name: 'Target' });
  before = await tableContents(app.database.name);
});

afterAll(() => app.close());

afterEach(async () => {
  // Whatever happened, no request is left hanging, nothing was written and the next client is served.
  while ((await running()) !== 0);
  expect((await app.api('get', '/health')).status).toBe(200);
  expect(await tableContents(app.database.name)).toEqual(before);
});

async function running(): Promise<number> {
  const { text } = await app.raw.get('/metrics');
  return Number(/^guildhall_http_requests_running (\d+)/m.exec(text)?.[1]);
}

async function open(): Promise<Socket> {
  const socket = connect(Number(new URL(app.origin).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

/** Everything that the server sends until it closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'close');
  return text;
}

function head(method: string, path: string, ...headers: string[]): string {
  return [
    `${method} /public/api/v1${path} HTTP/1.1`,
    'Host: localhost',
    `X-Api-Key: ${app.workspace.apiKey}`,
    ...headers,
    '',
    '',
  ].join('\r\n');
}

const json = 'Content-Type: application/json';

describe('a body that does not come', () => {
  test('cut in the middle by a client that breaks the connection', async () => {
    const socket = await open();
    socket.write(`${head('POST', '/agents', json, 'Content-Length: 1000')}{"name":"Half`);
    while ((await running()) !== 1);
    socket.resetAndDestroy();
  });

  test('cut in the middle by a client that says goodbye', async () => {
    const socket = await open();
    const answer = untilClosed(socket);
    socket.end(`${head('POST', '/agents', json, 'Content-Length: 1000')}{"name":"Half"}`);
    expect(await answer).toMatch(/^$|^HTTP\/1\.1 400 /);
  });

  test('cut between two chunks', async () => {
    const socket = await open();
    const answer = untilClosed(socket);
    socket.end(`${head('POST', '/agents', json, 'Transfer-Encoding: chunked')}f\r\n{"name":"Half"}\r\n`);
    expect(await answer).toMatch(/^$|^HTTP\/1\.1 400 /);
  });

  test('announced and left away', async () => {
    const socket = await open();
    socket.write(head('POST', '/agents', json, 'Content-Length: 1000'));
    while ((await running()) !== 1);
    socket.destroy();
  });
});

describe('a client that goes away', () => {
  test('before it has read a long answer', async () => {
    const socket = await open();
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    socket.destroy();
  });

  test('right after its request', async () => {
    for (const path of ['/agents', '/health', '/conversations']) {
      const socket = await open();
      socket.write(head('GET', path), () => socket.destroy());
      await once(socket, 'close');
    }
  });

  test('in the middle of the headers', async () => {
    const socket = await open();
    socket.write('GET /public/api/v1/health HTTP/1.1\r\nX-Api-K');
    socket.destroy();
    await once(socket, 'close');
  });
});

test('a request without a response is not counted as successful', async () => {
  const socket = await open();
  socket.write(head('POST', '/agents', json, 'Content-Length: 1000'));
  while ((await running()) !== 1);
  socket.resetAndDestroy();
  while ((await running()) !== 0);
  expect((await app.raw.get('/metrics')).text).not.toContain('{operation="createAgent",status="200"}');
});

describe('requests that are no HTTP', () => {
  test.each([
    ['noise', '\u0000\u0001\u0002\u0003\r\n\r\n', 400],
    ['a header of 20 KB', `GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${'a'.repeat(20_000)}\r\n\r\n`, 400],
    ['two lengths', 'POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}', 400],
    [
      'a length and chunks',
      'POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a negative length', 'POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n', 400],
    [
      'a chunk of no size',
      'POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      '404|400',
    ],
  ])('%s', async (_what, text, status) => {
    const socket = await open();
    const answer = untilClosed(socket);
    socket.end(text);
    // A chunk is found wrong only after the headers were answered.
    expect(await answer).toMatch(new RegExp(`^HTTP/1\\.1 (${status}) `));
  });

  test.each([
    ['noise', 'noise\r\n\r\n', 'This is not a valid HTTP request.'],
    [
      'a head over 16 KiB',
      `GET /livez HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      'The address and headers of the request are over 16 KiB.',
    ],
  ])('get the one error shape all the same: %s', async (_what, text, message) => {
    const socket = await open();
    const answer = untilClosed(socket);
    socket.write(text);
    const [top = '', body = ''] = (await answer).split('\r\n\r\n');
    const error = JSON.parse(body) as Record<string, unknown>;
    expect(error).toEqual({
      code: 'VALIDATION_ERROR',
      message,
      status: 400,
      requestId: expect.any(String),
      details: [],
    });
    expect(top).toContain(`X-Request-Id: ${String(error.requestId)}`);
  });
});

describe('a connection that is used again', () => {
  test('serves the request after one whose body was refused', async () => {
    const socket = await open();
    const answer = untilClosed(socket);
    const tooLarge = 2 * 1024 * 1024 + 1;
    socket.write(head('POST', '/agents', json, `Content-Length: ${tooLarge}`));
    socket.write(Buffer.alloc(tooLarge, 0x20));
    socket.write(`${head('POST', '/agents', 'Content-Type: text/plain', 'Content-Length: 2')}{}`);
    socket.write(head('GET', '/health', 'Connection: close'));
    const statuses = [...(await answer).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['413', '415', '200']);
  });

  test('answers requests in the order in which they were sent', async () => {
    const socket = await open();
    const answer = untilClosed(socket);
    socket.write(
      head('GET', '/conversations', 'X-Request-Id: first') +
        head('GET', '/health', 'X-Request-Id: second', 'Connection: close'),
    );
    const ids = [...(await answer).matchAll(/^x-request-id: (.*)\r$/gim)].map(([, id]) => id);
    expect(ids).toEqual(['first', 'second']);
  });

  test('a body is asked for when the client waits to be asked', async () => {
    const socket = await open();
    const answer = untilClosed(socket);
    socket.write(head('POST', '/agents', json, 'Expect: 100-continue', 'Content-Length: 11', 'Connection: close'));
    await once(socket, 'data');
    socket.write('{"name": ""}'.slice(0, 11));
    const statuses = [...(await answer).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['100', '400']);
  });
});
