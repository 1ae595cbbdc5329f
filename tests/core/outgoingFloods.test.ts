import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { guardedFetch, guardedFetchLike } from '../../core/outgoing.ts';
import { until } from '../support/poll.ts';
import { threadCpuMs } from '../support/processorTime.ts';
import { failureOf, PRIVATE } from './outgoingServers.ts';

/** What the server answers in the running test; it gets the socket once a request has come. */
let answer: (socket: net.Socket) => void;
let base: string;
/** Bytes that the client took of the server of the running test. */
let sent = 0;
const open = new Set<net.Socket>();
const server = net.createServer((socket) => {
  open.add(socket);
  socket.on('error', () => undefined).on('close', () => open.delete(socket));
  socket.once('data', () => answer(socket));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => new Promise((done) => server.close(done)));
beforeEach(() => {
  sent = 0;
});

/** Sends the piece again and again, as fast as it is taken. */
function flood(socket: net.Socket, piece: string | Buffer): void {
  const bytes = Buffer.from(piece);
  const go = () => {
    while (!socket.destroyed && socket.write(bytes)) sent += bytes.length;
  };
  socket.on('drain', go);
  go();
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const GZIP = 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n';
const LIMITS = { ...PRIVATE, timeoutMs: 60_000, maxBytes: 20_000_000 };

describe('an answer that is nearly all framing', () => {
  test.each([
    ['informational answers', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000)],
    ['large informational answers', '', `HTTP/1.1 103 Early Hints\r\n${'a: b\r\n'.repeat(2000)}\r\n`.repeat(5)],
    ['blank lines', '', '\r\n'.repeat(32_000)],
    ['an endless reason', 'HTTP/1.1 200 ', 'O'.repeat(65_536)],
    ['chunks of a byte', CHUNKED, '1\r\nx\r\n'.repeat(10_000)],
    ['chunks with long extensions', CHUNKED, `1;${'e'.repeat(60_000)}\r\nx\r\n`],
    ['an endless extension', `${CHUNKED}1;`, 'a=b;'.repeat(16_000)],
    ['an endless chunk size', CHUNKED, '0'.repeat(60_000)],
    ['empty members of gzip', GZIP, Buffer.concat(Array(3000).fill(zlib.gzipSync('')))],
    ['an endless trailer', `${CHUNKED}1\r\nx\r\n0\r\n`, 'a: b\r\n'.repeat(10_000)],
  ])('%s: the call ends after little', async (_name, begin, piece) => {
    answer = (socket) => {
      socket.write(begin);
      flood(socket, piece);
    };
    const begun = threadCpuMs();
    const error = await failureOf(guardedFetch(base, LIMITS));
    expect(error).toMatchObject({ name: 'OutgoingFailed', reason: 'protocol' });
    // With the server, which is in this process. The system's buffers hold some megabytes.
    expect(sent).toBeLessThan(32_000_000);
    expect(threadCpuMs() - begun).toBeLessThan(3_000);
  });

  test('says so', async () => {
    answer = (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000));
    expect(String(await failureOf(guardedFetch(base, LIMITS)))).toContain('sends too many informational answers');
    answer = (socket) => {
      socket.write(CHUNKED);
      flood(socket, '1\r\nx\r\n'.repeat(10_000));
    };
    const streamed = async () => (await guardedFetchLike(LIMITS)(base)).arrayBuffer();
    expect(String(await failureOf(streamed()))).toContain('sends almost nothing but framing');
  });
});

describe('an honest answer', () => {
  test('may begin with a few informational answers', async () => {
    answer = (socket) =>
      socket.end(`${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5)}HTTP/1.1 200 OK\r\n\r\ndone`);
    expect(String((await guardedFetch(base, LIMITS)).body)).toBe('done');
  });

  test('may have a hundred thousand chunks of a few words', async () => {
    const line = 'data: {"token":"word"}\n\n';
    const chunks = Array(100_000)
      .fill(`${line.length.toString(16)}\r\n${line}\r\n`)
      .join('');
    answer = (socket) => socket.end(`${CHUNKED}${chunks}0\r\n\r\n`);
    expect((await guardedFetch(base, LIMITS)).body.length).toBe(100_000 * line.length);
  });

  test.each([
    ['gzip', zlib.gzipSync],
    ['br', (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('may be large and not compress at all (%s), and be read slowly', async (encoding, compress) => {
    const bytes = randomBytes(4_000_000);
    answer = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\n\r\n`);
      socket.end(compress(bytes));
    };
    const { body } = await guardedFetchLike(LIMITS)(base);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      if (chunks.length % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });
});

test('an answer that nobody asked for is never that of a later call', async () => {
  const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown';
  const foreign = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
  answer = (socket) => socket.write(whole + foreign.repeat(3));
  for (let call = 0; call < 5; call += 1) expect(String((await guardedFetch(base, LIMITS)).body)).toBe('own');
  // Neither one that comes before the request, nor one to the second request over a connection.
  answer = (socket) => {
    socket.write(`HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n${foreign}`);
    answer = (next) => next.write(whole);
  };
  expect(String((await guardedFetch(base, LIMITS)).body)).not.toBe('poison');
});

test('a handshake that never ends is given up, and its connection is closed', async () => {
  answer = () => undefined;
  const error = await failureOf(guardedFetch(base.replace('http:', 'https:'), { ...LIMITS, timeoutMs: 200 }));
  expect(error).toMatchObject({ name: 'OutgoingFailed', reason: 'timeout' });
  await until(() => open.size === 0);
});
