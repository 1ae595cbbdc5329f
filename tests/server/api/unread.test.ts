import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Response } from 'express';
import { sendJson } from '../../../server/api/sendJson.ts';
import { UnreadAnswers, type UnreadOptions } from '../../../server/api/unread.ts';
import { poll } from '../../support/poll.ts';

const MEGABYTE = 'x'.repeat(1024 * 1024);
/** More than the system takes for a client that does not read. */
const LARGE_MB = 24;

let server: Server;
let port: number;
const responses: ServerResponse[] = [];
const sockets: Socket[] = [];
let unread: UnreadAnswers;

beforeAll(async () => {
  server = createServer((request, response) => {
    responses.push(response);
    if (request.url === '/stream') {
      response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      response.end(MEGABYTE.repeat(LARGE_MB));
      unread.watch(response, 'a');
      return;
    }
    sendJson(response as Response, 200, Array(Number(request.url?.slice(1))).fill(MEGABYTE));
    unread.watch(response, String(request.headers['x-owner']));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  responses.splice(0);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Asks for an answer of so many megabytes, and reads nothing of it. */
async function ask(megabytes: number | 'stream', owner = 'a'): Promise<{ socket: Socket; response: ServerResponse }> {
  const before = responses.length;
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket.on('error', () => {}));
  socket.pause();
  socket.write(`GET /${megabytes} HTTP/1.1\r\nHost: x\r\nX-Owner: ${owner}\r\n\r\n`);
  await poll(
    async () => responses.length,
    (length) => length > before,
  );
  return { socket, response: responses[before] as ServerResponse };
}

const watch = (options: UnreadOptions) => {
  unread = new UnreadAnswers({ idleMs: 600_000, wholeMs: 600_000, maxBytes: 1024 ** 3, ...options });
};
const closed = (response: ServerResponse) => poll(async () => response.closed, Boolean);

test('an answer of which nothing is read for a time is dropped with its connection', async () => {
  watch({ idleMs: 200 });
  const { response } = await ask(LARGE_MB);
  expect(response.writableLength).toBeGreaterThan(0);
  await closed(response);
  expect(response.writableFinished).toBe(false);
});

test('one that is read slowly is dropped when its time is over', async () => {
  watch({ wholeMs: 300 });
  const { response } = await ask(LARGE_MB);
  await closed(response);
  expect(response.writableFinished).toBe(false);
});

test('a stream is left to its own bounds', async () => {
  watch({ idleMs: 50, wholeMs: 50 });
  const { response } = await ask('stream');
  const other = await ask(LARGE_MB);
  await closed(other.response);
  expect([response.writableEnded, response.destroyed]).toEqual([true, false]);
});

test('of too many bytes of a workspace the oldest answer is dropped, and none of another workspace', async () => {
  watch({ maxBytes: 2.5 * LARGE_MB * 1024 * 1024 });
  const other = await ask(LARGE_MB, 'b');
  const first = await ask(LARGE_MB);
  const second = await ask(LARGE_MB);
  expect(first.response.destroyed).toBe(false);
  const third = await ask(LARGE_MB);
  await closed(first.response);
  expect([other, second, third].map(({ response }) => response.destroyed)).toEqual([false, false, false]);
});

test('an answer that is read is whole, and its connection takes the next request', async () => {
  watch({ maxBytes: 1 });
  const { socket, response } = await ask(LARGE_MB);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  await poll(async () => response.writableFinished, Boolean);
  await poll(
    async () => bytes,
    (read) => read > LARGE_MB * 1024 * 1024,
  );
  socket.write('GET /1 HTTP/1.1\r\nHost: x\r\nX-Owner: a\r\n\r\n');
  await poll(
    async () => bytes,
    (read) => read > (LARGE_MB + 1) * 1024 * 1024,
  );
});
