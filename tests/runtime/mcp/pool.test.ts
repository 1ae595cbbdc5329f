// Longer than most: shared connections and calls are tested against the same few servers.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { McpPool, type McpPoolOptions, type McpServer } from '../../../runtime/mcp/pool.ts';
import { until } from '../../support/poll.ts';
import {
  startEverything,
  startMcpServer,
  type TestMcpServer,
  type TlsServer,
  useCertificate,
} from '../../support/servers/mcp.ts';
import { type Answer, INITIALIZED, startRawMcp } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
const servers: TlsServer[] = [];
const pools: McpPool[] = [];

async function running<Server extends TlsServer>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  servers.push(server);
  return server;
}

function makePool(options: Partial<McpPoolOptions> = {}): McpPool {
  const pool = new McpPool({ allowPrivateNetwork: true, ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const at = (url: string, fields: Partial<McpServer> = {}): McpServer => ({
  workspaceId: 'w',
  id: 's',
  configVersion: 1,
  url,
  headers: {},
  ...fields,
});
const echo = (text: string, instanceMode: 'STATIC' | 'DYNAMIC' = 'STATIC', signal?: AbortSignal) => ({
  instanceMode,
  tool: 'echo',
  arguments: { text },
  ...(signal ? { signal } : {}),
});

describe.each(['streamable', 'sse'] as const)('over %s', (kind) => {
  let server: TestMcpServer;
  beforeEach(async () => {
    server = await running(startMcpServer(certificate, { kind, tools: { echo: undefined, fail: undefined } }));
  });

  test('STATIC calls share one session, even while it is being opened', async () => {
    const pool = makePool();
    const texts = ['a', 'b', 'c', 'd'];
    const results = await Promise.all(texts.map((text) => pool.call(at(server.url), echo(text))));
    expect(results.map(({ text }) => text)).toEqual(texts.map((text) => `echo: ${text}`));
    await pool.call(at(server.url), echo('e'));
    expect([server.begun, server.sessions.size]).toEqual([1, 1]);
  });

  test('each DYNAMIC call has its own session, which ends with the call', async () => {
    const pool = makePool();
    const results = await Promise.all(['a', 'b'].map((text) => pool.call(at(server.url), echo(text, 'DYNAMIC'))));
    expect(results.map(({ text }) => text)).toEqual(['echo: a', 'echo: b']);
    expect(server.begun).toBe(2);
    await until(() => server.sessions.size === 0 && server.connections() === 0);
    expect(pool.size).toBe(0);
  });

  test('a connection that was garbage collected meanwhile is closed too', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const pool = makePool();
    await pool.call(at(server.url), echo('a'));
    for (let round = 0; round < 3; round += 1) {
      await sleep(10);
      collect();
    }
    await pool.close();
    await until(() => server.sessions.size === 0 && server.connections() === 0);
  });

  test('a lost session is opened again', async () => {
    const pool = makePool();
    await pool.call(at(server.url), echo('a'));
    for (const [id, session] of server.sessions) {
      server.sessions.delete(id);
      await session.close();
    }
    if (kind === 'sse') await until(() => pool.size === 0);
    expect(await pool.call(at(server.url), echo('b'))).toEqual({
      isError: false,
      text: 'echo: b',
      files: [],
      structuredContent: null,
    });
    expect(server.begun).toBe(2);
  });

  test('closing the pool ends every session and connection', async () => {
    const pool = makePool();
    await pool.call(at(server.url), echo('a'));
    await pool.close();
    await until(() => server.sessions.size === 0 && server.connections() === 0);
    await expect(pool.call(at(server.url), echo('b'))).rejects.toThrow('The service is stopping.');
  });
});

describe('a shared session', () => {
  test('is not used after the address or the credential changed', async () => {
    const server = await running(
      startMcpServer(certificate, { authorize: ({ authorization }) => authorization === key }),
    );
    let key = 'Bearer one';
    const pool = makePool();
    await pool.call(at(server.url, { headers: { Authorization: key } }), echo('a'));
    key = 'Bearer two';
    await pool.call(at(server.url, { headers: { Authorization: key }, configVersion: 2 }), echo('b'));
    expect(server.begun).toBe(2);
    expect(pool.size).toBe(1);
  });

  test('is not shared between workspaces', async () => {
    const server = await running(startMcpServer(certificate));
    const pool = makePool();
    await pool.call(at(server.url), echo('a'));
    await pool.call(at(server.url, { workspaceId: 'other' }), echo('a'));
    expect(server.begun).toBe(2);
  });

  test('is ended when it is idle', async () => {
    const server = await running(startMcpServer(certificate));
    const pool = makePool({ idleMs: 20 });
    await pool.call(at(server.url), echo('a'));
    await until(() => pool.size === 0 && server.sessions.size === 0);
  });

  test('is ended when its server is forgotten', async () => {
    const server = await running(startMcpServer(certificate));
    const pool = makePool();
    await pool.call(at(server.url), echo('a'));
    pool.forget('w', 's');
    await until(() => server.sessions.size === 0);
    expect(pool.size).toBe(0);
  });

  test('is closed for a new one when it is the least recently used', async () => {
    const server = await running(startMcpServer(certificate));
    const pool = makePool({ size: 2 });
    for (const id of ['1', '2', '1', '3']) await pool.call(at(server.url, { id }), echo('a'));
    expect(pool.size).toBe(2);
    await until(() => server.sessions.size === 2);
    await pool.call(at(server.url, { id: '1' }), echo('a'));
    expect(server.begun).toBe(3);
    await pool.call(at(server.url, { id: '2' }), echo('a'));
    expect(server.begun).toBe(4);
  });

  test('that cannot be opened fails the calls that wait for it; the next call tries again', async () => {
    let open = false;
    const server = await running(startMcpServer(certificate, { authorize: () => open }));
    const pool = makePool();
    const both = await Promise.allSettled(['a', 'b'].map((text) => pool.call(at(server.url), echo(text))));
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    open = true;
    expect((await pool.call(at(server.url), echo('c'))).text).toBe('echo: c');
  });

  test('a caller that aborts does not end it for another', async () => {
    let arrived = 0;
    const waiting: (() => void)[] = [];
    const server = await running(
      startRawMcp(certificate, ({ method, result, params }) => {
        if (method === 'initialize' || method !== 'tools/call') return false;
        arrived += 1;
        waiting.push(() => result({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] }));
        return undefined;
      }),
    );
    const pool = makePool();
    const stop = new AbortController();
    const url = `${server.origin}/mcp`;
    const first = pool.call(at(url), echo('a', 'STATIC', stop.signal));
    const second = pool.call(at(url), echo('b'));
    await until(() => arrived === 2);
    stop.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    for (const answer of waiting) answer();
    expect((await second).text).toBe('{"text":"b"}');
    await until(() => server.seen.some(({ method }) => method === 'DELETE'));
  });

  test('a caller that aborts while it is being opened gets its own reason', async () => {
    const server = await running(startRawMcp(certificate, () => undefined));
    const stop = new AbortController();
    for (const mode of ['STATIC', 'DYNAMIC'] as const) {
      const call = makePool().call(at(`${server.origin}/mcp`), echo('a', mode, stop.signal));
      if (!stop.signal.aborted) stop.abort(new Error('enough'));
      await expect(call).rejects.toThrow('enough');
    }
  });
});

describe('a call', () => {
  async function answered(answer: Answer, options: Partial<McpPoolOptions> = {}) {
    const server = await running(startRawMcp(certificate, answer));
    const result = makePool(options).call(at(`${server.origin}/mcp`), echo('a'));
    return { server, result };
  }
  const content = (...parts: unknown[]): Answer => {
    return ({ method, result }) => (method === 'tools/call' ? result({ content: parts }) : false);
  };

  test('a tool that fails and a tool that does not exist are results with isError', async () => {
    const server = await running(startMcpServer(certificate, { tools: { fail: undefined } }));
    const pool = makePool();
    const failed = await pool.call(at(server.url), { ...echo('it'), tool: 'fail' });
    expect(failed).toEqual({ isError: true, text: 'cannot do it', files: [], structuredContent: null });
    const missing = await pool.call(at(server.url), { ...echo('it'), tool: 'missing' });
    expect([missing.isError, missing.text]).toEqual([true, expect.stringContaining('missing')]);
    const refused = await pool.call(at(server.url), { ...echo('it'), arguments: {} });
    expect(refused.isError).toBe(true);
    expect(server.begun).toBe(1);
  });

  test('a request that the server refuses is a result too', async () => {
    const { result } = await answered(({ method, res }) =>
      method === 'tools/call'
        ? res
            .writeHead(200, { 'content-type': 'application/json' })
            .end('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}')
        : false,
    );
    expect(await result).toEqual({
      isError: true,
      text: expect.stringContaining('no such tool'),
      files: [],
      structuredContent: null,
    });
  });

  test('a long result is cut and can be stored', async () => {
    const { result } = await answered(content({ type: 'text', text: `\0${'x'.repeat(200_000)}` }));
    expect(await result).toMatchObject({ isError: false, text: `${'x'.repeat(99_999)}…`, structuredContent: null });
  });

  test('structured content is returned, also as the text when there is none', async () => {
    const structuredContent = { city: 'Ulm', 'k\0': 1 };
    const { result } = await answered(({ method, result }) =>
      method === 'tools/call' ? result({ structuredContent }) : false,
    );
    const clean = { city: 'Ulm', 'k\ufffd': 1 };
    expect(await result).toMatchObject({ isError: false, text: JSON.stringify(clean), structuredContent: clean });
  });

  test('structured content that is too large or too deep is left out', async () => {
    for (const structuredContent of [
      { x: 'x'.repeat(200_000) },
      JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`),
    ]) {
      const { result } = await answered(({ method, result }) =>
        method === 'tools/call' ? result({ content: [{ type: 'text', text: 't' }], structuredContent }) : false,
      );
      expect(await result).toMatchObject({ isError: false, text: 't', structuredContent: null });
    }
  });

  test('a server that takes too long fails the call, and its session is not used again', async () => {
    let calls = 0;
    const server = await running(
      startRawMcp(certificate, ({ method, result }) => {
        if (method !== 'tools/call') return false;
        calls += 1;
        return calls === 1 ? undefined : result({ content: [] });
      }),
    );
    const pool = makePool({ timeoutMs: 2000 });
    await expect(pool.call(at(`${server.origin}/mcp`), echo('a'))).rejects.toThrow(/in time|within 2000 ms/);
    expect(pool.size).toBe(0);
    expect((await pool.call(at(`${server.origin}/mcp`), echo('b'))).isError).toBe(false);
    await until(() => server.connections() === 0);
  });

  test('a response that is too large fails only its own call', async () => {
    const server = await running(
      startRawMcp(certificate, ({ method, stream, result, params }) => {
        if (method !== 'tools/call') return false;
        const { text } = params.arguments as { text: string };
        if (text === 'small') return setTimeout(() => result({ content: [{ type: 'text', text }] }), 300);
        return stream().say({ method: 'x', params: { x: 'x'.repeat(9_000_000) } });
      }),
    );
    const pool = makePool();
    const small = pool.call(at(`${server.origin}/mcp`), echo('small'));
    await expect(pool.call(at(`${server.origin}/mcp`), echo('large'))).rejects.toThrow(
      /larger than|more than can be read/,
    );
    expect((await small).text).toBe('small');
  });

  test.each([404, 400])(
    'a session that the server does not know any more (%i) is opened again once',
    async (status) => {
      let known = true;
      let calls = 0;
      const server = await running(
        startRawMcp(certificate, ({ method, res, result }) => {
          if (method === 'initialize') return result(INITIALIZED);
          if (method !== 'tools/call') return false;
          calls += 1;
          return known ? result({ content: [] }) : res.writeHead(status).end();
        }),
      );
      const pool = makePool();
      await pool.call(at(`${server.origin}/mcp`), echo('a'));
      known = false;
      await expect(pool.call(at(`${server.origin}/mcp`), echo('b'))).rejects.toThrow(String(status));
      expect(calls).toBe(3);
    },
  );

  test.each([500, 502])('a call that failed with %i, and may have run, is not repeated', async (status) => {
    let calls = 0;
    const server = await running(
      startRawMcp(certificate, ({ method, res, result }) => {
        if (method !== 'tools/call') return false;
        calls += 1;
        return calls === 1 ? result({ content: [] }) : res.writeHead(status).end();
      }),
    );
    const pool = makePool();
    await pool.call(at(`${server.origin}/mcp`), echo('a'));
    await expect(pool.call(at(`${server.origin}/mcp`), echo('b'))).rejects.toThrow(String(status));
    expect(calls).toBe(2);
  });

  test("one stream is opened for the server's own messages, and not again where there is none", async () => {
    const { result, server } = await answered(({ method, result }) =>
      method === 'tools/call' ? setTimeout(() => result({ content: [] }), 1000) : false,
    );
    await result;
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'GET', 'POST']);
  });

  test('a stream that the server closes is resumed after its last event', async () => {
    const { result, server } = await answered(({ method, req, res, stream }) => {
      if (method === 'tools/call') {
        stream();
        return res.end('retry: 0\nid: 41\ndata:\n\n');
      }
      if (method !== 'GET' || req.headers['last-event-id'] === undefined) return false;
      stream().say({ id: 1, result: { content: [{ type: 'text', text: `after ${req.headers['last-event-id']}` }] } });
      return res.end();
    });
    expect((await result).text).toBe('after 41');
    const resumed = server.seen.filter(({ headers }) => headers['last-event-id'] !== undefined);
    expect(resumed).toHaveLength(1);
  });

  test.each(['streamableHttp', 'sse'] as const)('the official reference server answers over %s', async (mode) => {
    const server = await running(startEverything(certificate, mode));
    const pool = makePool();
    const call = { instanceMode: 'STATIC', tool: 'get-sum', arguments: { a: 2, b: 3 } } as const;
    expect((await pool.call(at(server.url), call)).text).toContain('5');
    const image = await pool.call(at(server.url), { ...call, tool: 'get-tiny-image', arguments: {} });
    expect(image.text).toContain('[image 1: image/png,');
    expect(image.files).toMatchObject([{ mediaType: 'image/png' }]);
    const weather = { ...call, tool: 'get-structured-content', arguments: { location: 'Chicago' } };
    expect((await pool.call(at(server.url), weather)).structuredContent).toMatchObject({
      temperature: expect.any(Number),
    });
    await pool.close();
    await until(() => server.connections() === 0);
  });
});
