// What a server sends to cost time: each case is one that took seconds of the main thread, or had no end.
import { queryObjects } from 'node:v8';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { McpPool, type McpPoolOptions } from '../../../runtime/mcp/pool.ts';
import { until } from '../../support/poll.ts';
import { mainThreadMs } from '../../support/processorTime.ts';
import { type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, INITIALIZED, type RawMcpCall, startRawMcp } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
let server: TlsServer;
let pool: McpPool;
afterEach(async () => {
  await pool.close();
  await until(() => server.connections() === 0);
  await server.close();
});

async function start(answer: Answer, options: Partial<McpPoolOptions> = {}) {
  server = await startRawMcp(certificate, answer);
  pool = new McpPool({ allowPrivateNetwork: true, ...options });
}
const onCall =
  (answer: Answer): Answer =>
  (call) =>
    call.method === 'tools/call' ? answer(call) : false;
const call = (more: object = {}) =>
  pool.call(
    { workspaceId: 'w', id: 's', configVersion: 1, url: `${server.origin}/mcp`, headers: {} },
    { instanceMode: 'STATIC', tool: 't', arguments: {}, ...more },
  );
const message = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it was a success',
    (error: Error) => error.message,
  );
const events = (text: (asked: RawMcpCall) => string): Answer =>
  onCall((asked) => {
    asked.stream();
    asked.res.end(text(asked));
  });
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const done = (id: unknown, fields = '') => `data:{"jsonrpc":"2.0","id":${id},"result":{"content":[]${fields}}}\n\n`;

describe('a stream of events', () => {
  test('whose first line has a quotation mark is measured all the same', async () => {
    const values = '{},'.repeat(2_000_000);
    await start(events(({ id }) => `: "\n${done(id, `,"x":[${values}0]`)}`));
    let failure = '';
    const ms = await mainThreadMs(async () => {
      failure = await message(call());
    });
    expect(failure).toMatch(/more than can be read/);
    expect(ms).toBeLessThan(1_000);
  });

  test.each([
    ['events', 'data:x\n\n', 1_000_000],
    ['notifications', 'data:{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n', 100_000],
    ['blank lines', '\n', 8_000_000],
    ['lines of each kind', '\r\n\n', 2_500_000],
  ])('with too many %s fails its call', async (_what, text, times) => {
    await start(events(() => text.repeat(times)));
    let failure = '';
    const ms = await mainThreadMs(async () => {
      failure = await message(call());
    });
    expect(failure).toMatch(/more than can be read/);
    expect(ms).toBeLessThan(1_500);
  });

  test.each(['\n', '\r', '\r\n'])('is read with each line end (%j), wherever it is cut', async (end) => {
    await start(
      onCall(async ({ id, res, stream }) => {
        stream();
        const text = `: "{[\n\nevent: message\nid: 1\ndata:{"jsonrpc":"2.0","id":${id},\ndata: "result":{"content":[{"type":"text","text":"ok"}]}}\n\n`;
        for (const character of text.replaceAll('\n', end)) {
          res.write(character);
          await new Promise(setImmediate);
        }
        res.end();
      }),
    );
    expect((await call()).text).toBe('ok');
  });

  test('that is resumed again and again has no more to say than one', async () => {
    const part = `id: 1\ndata: {"jsonrpc":"2.0","method":"x","params":{"x":"${'x'.repeat(3_000_000)}"}}\n\n`;
    await start(({ method, req, res, stream }) => {
      const resumes = method === 'GET' && req.headers['last-event-id'] !== undefined;
      if (method !== 'tools/call' && !resumes) return false;
      stream();
      return res.end(`retry: 0\n${part}`);
    });
    expect(await message(call())).toMatch(/more than can be read/);
    expect(server.seen.filter(({ headers }) => headers['last-event-id'] !== undefined).length).toBeLessThan(5);
  });
});

describe('an answer in JSON', () => {
  const json = (body: (id: unknown) => string | Buffer, headers: Record<string, string> = {}): Answer =>
    onCall(({ id, res }) => res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body(id)));
  const ok = (id: unknown) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"ok"}]}}`;
  const batch = (size: number, id: unknown) => `[${'{"jsonrpc":"2.0","method":"x"},'.repeat(size - 1)}${ok(id)}]`;

  // All of them are checked in one turn.
  test.each([
    [500, 'it was a success'],
    [501, 'The server sends more than can be read.'],
  ])('may have 500 messages, here %i', async (size, expected) => {
    await start(json((id) => batch(size, id)));
    expect(await message(call())).toBe(expected);
  });

  test.each([
    ['another request', '{"jsonrpc":"2.0","id":999,"result":{"content":[]}}'],
    ['no request', '{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}'],
    ['nothing', '[]'],
  ])('that answers %s fails the call at once', async (_what, body) => {
    await start(json(() => body));
    expect(await message(call())).toBe('The answer of the server is not valid MCP: it does not answer the request.');
  });

  test.each(['gzip', 'br'])('with a bomb in %s is read as far as its bound', async (encoding) => {
    const spaces = Buffer.alloc(100 * 1024 * 1024, ' ');
    const packed = encoding === 'gzip' ? gzipSync(spaces, { level: 1 }) : brotliCompressSync(spaces, FAST);
    await start(json(() => packed, { 'content-encoding': encoding }));
    let failure = '';
    const ms = await mainThreadMs(async () => {
      failure = await message(call());
    });
    expect(failure).toMatch(/is larger than 8388608 bytes/);
    expect(ms).toBeLessThan(400);
  });

  test('that is packed twice is refused', async () => {
    await start(json((id) => gzipSync(gzipSync(ok(id))), { 'content-encoding': 'gzip, gzip' }));
    expect(await message(call())).toMatch(/in a compression that was not asked for/);
  });

  test('may begin with a byte-order mark and have bytes that are not UTF-8, wherever it is cut', async () => {
    const whole = (id: unknown) => Buffer.from(`\ufeff${ok(id)}`.replace('ok', 'aé\u0001é'), 'utf8');
    await start(
      onCall(async ({ id, res }) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        for (const byte of whole(id)) {
          res.write(Buffer.from([byte === 1 ? 0xff : byte]));
          await new Promise(setImmediate);
        }
        res.end();
      }),
    );
    expect((await call()).text).toBe('aé\ufffdé');
  });

  test('that says which revisions it knows in no texts is told as an error', async () => {
    const supported = '[{"toString":1},"2031-01-01"]';
    const error = `{"code":-32022,"message":"x","data":{"supported":${supported},"contentType":{"toString":1},"status":404}}`;
    await start(json((id) => `{"jsonrpc":"2.0","id":${id},"error":${error}}`));
    expect(await message(call())).toMatch(/^The server speaks only revisions .* \(2031-01-01\)/);
  });

  test('with a structure of 45,000 names is shown as far as there is room', async () => {
    const names = Array.from({ length: 45_000 }, (_, place) => `"${4294967290 - place * 9}":1`).join(',');
    await start(json((id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{${names}}}}`));
    const { structuredContent, text } = await call();
    expect([structuredContent, text.length]).toEqual([null, 100_000]);
  });
});

test('what a server wants to have sent back with an answer is not sent when it is long', async () => {
  const modern = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' };
  const inputRequests = { a: { method: 'elicitation/create', params: { message: 'Why?' } } };
  let calls = 0;
  await start(({ method, result }) => {
    if (method === 'server/discover') return result({ resultType: 'complete', ...modern });
    if (method !== 'tools/call') return false;
    calls += 1;
    return result({ resultType: 'input_required', inputRequests, requestState: 'x'.repeat(calls * 100_000) });
  });
  expect(await call()).toMatchObject({ isError: true, text: expect.stringContaining('Why?') });
  expect(calls).toBe(2);
});

test('calls leave nothing in memory, whether they succeed or fail', async () => {
  let calls = 0;
  await start(({ id, method, params, res, result }) => {
    if (method !== 'tools/call') return false;
    calls += 1;
    if (calls % 3 === 0) return res.socket?.destroy();
    if (calls % 3 === 1) return result(params);
    return res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":"${id}x","result":{}}`);
  });
  for (let round = 0; round < 30; round += 1) await message(call({ instanceMode: 'DYNAMIC' }));
  // Each request has an agent of its own.
  await until(() => queryObjects(Agent, { format: 'count' }) <= 3);
});

test("the stream of a server's own messages is not resumed for ever", async () => {
  await start(
    ({ method, res, result, stream }) => {
      if (method === 'tools/call') return setTimeout(() => result({ content: [] }), 5_000);
      if (method !== 'GET') return false;
      stream();
      return res.end('retry: 0\nid: 1\ndata:\n\n');
    },
    { timeoutMs: 60_000 },
  );
  await call();
  expect(server.seen.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(5);
});

test('a server that pings as fast as it is answered loses its session', async () => {
  let answered = 0;
  let ping = (): void => undefined;
  await start((asked) => {
    // An answer of the client has no method.
    if (asked.method === 'POST') {
      answered += 1;
      asked.res.writeHead(202).end();
      return ping();
    }
    if (asked.method !== 'tools/call') return false;
    const { say } = asked.stream();
    ping = () => say({ id: `p${answered}`, method: 'ping' });
    return ping();
  });
  expect(await message(call())).toMatch(/too many requests of its own/);
  expect(answered).toBeLessThan(60);
});

describe('the time of a call', () => {
  test('is that of all its requests together', async () => {
    let pages = 0;
    await start(
      ({ method, result }) => {
        if (method === 'initialize') return result({ ...INITIALIZED, capabilities: { resources: {} } });
        if (method !== 'resources/list') return false;
        pages += 1;
        const page = { resources: [{ uri: `a:${pages}`, name: 'a' }], nextCursor: String(pages) };
        return setTimeout(() => result(page), 700);
      },
      { timeoutMs: 2_000, maxTimeoutMs: 2_000 },
    );
    const searching = call({ resources: 'list', arguments: { search: 'nothing has it' } });
    expect(await message(searching)).toBe('The server did not answer in time.');
    expect(pages).toBeLessThan(5);
  });

  test('ends it with the reason of its signal, an exception of the DOM too', async () => {
    await start(onCall(() => undefined));
    await expect(call({ signal: AbortSignal.timeout(1_500) })).rejects.toThrow(DOMException);
  });
});

describe('a server that changes its revision in mid-session', () => {
  /** It refuses what is not of its revision, as the protocol wants it. */
  const changing =
    (revision: () => string): Answer =>
    ({ id, method, params, res, result }) => {
      const isModern = Object(params._meta)['io.modelcontextprotocol/protocolVersion'] !== undefined;
      if (method === 'notifications/initialized' || method === 'GET' || method === 'DELETE') return false;
      if (isModern !== (revision() === 'modern')) {
        const supported = [isModern ? '2025-11-25' : '2026-07-28'];
        const error = { code: -32022, message: 'no', data: { supported } };
        return res
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      }
      if (method === 'server/discover') {
        const says = {
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: 'private',
        };
        return result({ resultType: 'complete', ...says });
      }
      return method === 'tools/call' ? result({ content: [{ type: 'text', text: revision() }] }) : false;
    };

  test('is spoken to anew in the same call, back and forth', async () => {
    let revision = 'modern';
    await start(changing(() => revision));
    for (const next of ['modern', 'legacy', 'modern', 'legacy']) {
      revision = next;
      expect((await call()).text).toBe(next);
    }
  });
});
