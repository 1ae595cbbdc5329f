import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { type Agent, type ClientRequest, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ApiError } from '../../../core/errors.ts';
import { type Form, readForm } from '../../../server/api/upload.ts';
import { FORM, filePart, form, part } from '../../support/http/multipart.ts';
import { mainThreadMs } from '../../support/processorTime.ts';

const MIB = 1024 * 1024;

let dir: string;
let server: Server;
/** How the last request was read. */
let reading: Promise<Form> | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'guildhall-upload-test-'));
  reading = undefined;
  server = createServer((incoming: IncomingMessage, response) => {
    reading = readForm(incoming, { maxBytes: 20 * MIB, parts: new Map() }, { dir, idleMs: 300 });
    reading.then(
      () => response.end('read'),
      (error: ApiError) => response.writeHead(error.status).end(JSON.stringify(error.details)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dir, { recursive: true });
});

/** A request under way, whose body the test writes. */
function open(headers: Record<string, string> = {}, agent: Agent | false = false): ClientRequest {
  const { port } = server.address() as AddressInfo;
  const all = { 'Content-Type': FORM, ...headers };
  return request({ port, host: '127.0.0.1', method: 'POST', agent, headers: all }).on('error', () => {});
}

async function answerTo(outgoing: ClientRequest): Promise<{ status: number; text: string }> {
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return { status: incoming.statusCode ?? 0, text };
}

/** The size of the file that is being written, 0 while there is none. */
async function written(): Promise<number> {
  const [folder] = await readdir(dir);
  return folder
    ? stat(join(dir, folder, 'file')).then(
        ({ size }) => size,
        () => 0,
      )
    : 0;
}

describe('a client that stalls', () => {
  test.each([
    ['before the first part', Buffer.alloc(0)],
    ['in a header', filePart().subarray(0, 40)],
    ['in the file', filePart(randomBytes(MIB)).subarray(0, -100)],
    ['before the end', filePart()],
  ])('%s is given up, and nothing stays', async (_what, sent) => {
    const outgoing = open({ 'Content-Length': String(2 * MIB) });
    outgoing.flushHeaders();
    outgoing.write(sent);
    const { status, text } = await answerTo(outgoing);
    expect([status, text]).toEqual([400, expect.stringContaining('stopped for')]);
    expect(await readdir(dir)).toEqual([]);
  });

  test('but never for long is heard to the end', async () => {
    const outgoing = open();
    for (const byte of form(filePart())
      .toString()
      .match(/.{1,20}/gs) ?? []) {
      await new Promise((sent) => outgoing.write(byte, sent));
    }
    outgoing.end();
    expect((await answerTo(outgoing)).text).toBe('read');
  });
});

describe('a fault is answered when it is seen, not when the client is done', () => {
  test.each([
    ['an unknown part', 400, filePart('x', 'a.md', 'surprise')],
    ['a second file', 400, Buffer.concat([filePart(), filePart()])],
    ['a broken header', 400, Buffer.concat([filePart(), part('nonsense', 'x')])],
    ['a file over its limit', 413, filePart(Buffer.alloc(20 * MIB + 1)).subarray(0, -2)],
    ['a preamble without end', 413, Buffer.alloc(21 * MIB)],
  ])('%s', async (_what, status, sent) => {
    const outgoing = open();
    outgoing.write(sent);
    // Still open: the answer comes all the same.
    const answer = await answerTo(outgoing);
    expect([answer.status, answer.text]).toEqual([status, expect.not.stringContaining('stopped for')]);
    expect(await readdir(dir)).toEqual([]);
  });
});

test('a connection whose form was refused in the middle takes the next request', async () => {
  const refused = Buffer.concat([filePart('x', 'a.md', 'surprise'), filePart(Buffer.alloc(5 * MIB))]);
  const head = (length: number) =>
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: ${length}\r\n\r\n`;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let answers = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answers += text;
  });
  const statuses = () => answers.match(/^HTTP\/1\.1 \d+/gm) ?? [];
  for (const [index, body] of [refused, form(filePart())].entries()) {
    socket.write(head(body.length));
    await new Promise((flushed) => socket.write(body, flushed));
    while (statuses().length <= index) await once(socket, 'data');
  }
  expect(statuses()).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
  socket.destroy();
});

test('a file of 20 MiB is on the disk before it has arrived, and not in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const chunk = randomBytes(64 * 1024);
  const outgoing = open();
  const [before] = filePart('@').toString().split('@');
  outgoing.write(before);
  collect();
  const atStart = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 19 * 16; i += 1) if (!outgoing.write(chunk)) await once(outgoing, 'drain');
  for (const deadline = Date.now() + 5000; (await written()) < 18.5 * MIB; ) {
    if (Date.now() > deadline) throw new Error(`Only ${await written()} bytes are on the disk.`);
    await new Promise((sent) => outgoing.write('x', sent));
  }
  // Buffers are given back when their finalizers have run, which one collection does not wait for. What is held stays.
  const held = () => {
    collect();
    return process.memoryUsage().arrayBuffers - atStart;
  };
  for (const deadline = Date.now() + 5000; held() >= 3 * MIB && Date.now() < deadline; )
    await new Promise((later) => setImmediate(later));
  expect(held()).toBeLessThan(3 * MIB);
  outgoing.destroy();
  await expect(reading).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(await readdir(dir)).toEqual([]);
});

describe('the name of a file', () => {
  test.each([
    ['prices.pdf', 'prices.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\Users\\\\me\\\\prices.pdf', 'prices.pdf'],
    ['/absolute/prices.pdf', 'prices.pdf'],
    ['  spaced out .md ', 'spaced out .md'],
    ['Preisliste Größe 表.csv', 'Preisliste Größe 表.csv'],
    ['u\u0308ber.md', '\u00fcber.md'],
    ['a%22b.md', 'a"b.md'],
    ['line%0D%0Abreak.md', 'linebreak.md'],
    ['50%.pdf', '50%.pdf'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['.hidden', '.hidden'],
    [`${'n'.repeat(400)}.pdf`, `${'n'.repeat(251)}.pdf`],
    [`${'😀'.repeat(300)}.pdf`, `${'😀'.repeat(251)}.pdf`],
    [`x.${'e'.repeat(400)}`, `x.${'e'.repeat(253)}`],
  ])('%s becomes %s', async (given, name) => {
    const outgoing = open();
    outgoing.end(form(filePart('x', given)));
    expect(await answerTo(outgoing)).toEqual({ status: 200, text: 'read' });
    const received = await reading;
    expect(received?.file?.name).toBe(name);
    await received?.discard();
    expect(await readdir(dir)).toEqual([]);
  });
});

test('a name of accents only is read without much work of the main thread', async () => {
  const name = `a${'\u0345\u0301\u0323\u0321'.repeat(1_950)}.pdf`;
  const ms = await mainThreadMs(async () => {
    for (let upload = 0; upload < 5; upload += 1) {
      const outgoing = open();
      outgoing.end(form(filePart('x', name)));
      await answerTo(outgoing);
      const received = await reading;
      expect([...(received?.file?.name ?? '')]).toHaveLength(255);
      await received?.discard();
    }
  });
  expect(ms).toBeLessThan(120);
});
