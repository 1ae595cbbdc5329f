// Longer than most: each way in which a server can misbehave is one line of two tables.
import type { ServerResponse } from 'node:http';
import { DISCOVERY_TIMEOUT_MS, discoverTools } from '../../../runtime/mcp/discover.ts';
import { CLOSE_TIMEOUT_MS } from '../../../runtime/mcp/session.ts';
import { until } from '../../support/poll.ts';
import { startEverything, startMcpServer, type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, INITIALIZED, startRawMcp, tool } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
const servers: TlsServer[] = [];

async function running<Server extends TlsServer>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const discover = (url: string, headers: Record<string, string> = {}, timeoutMs?: number) =>
  discoverTools({
    url,
    headers,
    allowPrivateNetwork: true,
    workspaceId: null,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });

/** The failure of the discovery of a raw server. Checks that no connection stays open. */
async function failure(answer: Answer, timeoutMs?: number): Promise<string> {
  const server = await running(startRawMcp(certificate, answer));
  const error = await discover(`${server.origin}/mcp`, { 'X-Api-Key': 'sk-secret' }, timeoutMs).then(
    () => new Error('it was a success'),
    (failed: unknown) => failed as Error,
  );
  await until(() => server.connections() === 0);
  expect(error.message).not.toContain('sk-secret');
  return error.message;
}

async function found(answer: Answer) {
  const server = await running(startRawMcp(certificate, answer));
  return discover(`${server.origin}/mcp`);
}

const listing = (...tools: unknown[]): Answer => {
  return ({ method, result }) => (method === 'tools/list' ? result({ tools }) : false);
};

describe('the official reference server', () => {
  test.each(['streamableHttp', 'sse'] as const)('all its tools are found over %s', async (mode) => {
    const server = await running(startEverything(certificate, mode));
    const { description, tools } = await discover(server.url);
    expect(description).toMatch(/^# Everything Server/);
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image', 'get-structured-content']));
    const echo = tools.find(({ name }) => name === 'echo');
    expect(echo?.description).toBe('Echoes back the input string');
    expect(echo?.inputSchema).toMatchObject({ type: 'object', properties: { message: { type: 'string' } } });
    await until(() => server.connections() === 0);
    expect(server.seen.map(({ method }) => method)).toEqual(
      mode === 'sse'
        ? ['POST', 'POST', 'GET', 'POST', 'POST', 'POST', 'POST']
        : ['POST', 'POST', 'POST', 'POST', 'POST', 'DELETE'],
    );
  });
});

describe('a server', () => {
  test('its session is ended, and no connection stays open', async () => {
    const server = await running(startMcpServer(certificate));
    await discover(server.url);
    expect([server.begun, server.sessions.size]).toEqual([1, 0]);
    await until(() => server.connections() === 0);
  });

  test('every request has the headers of the credential', async () => {
    const server = await running(startMcpServer(certificate, { authorize: (h) => h['x-api-key'] === 'sk-1' }));
    await discover(server.url, { 'X-Api-Key': 'sk-1' });
    expect(server.seen.map(({ headers }) => headers['x-api-key'])).toEqual(server.seen.map(() => 'sk-1'));
    expect(server.seen.at(-1)?.method).toBe('DELETE');
  });

  test('is described by its instructions, else by its title, else not at all', async () => {
    const server = await running(startMcpServer(certificate, { instructions: ' Use echo. ', title: 'Echoes' }));
    expect((await discover(server.url)).description).toBe('Use echo.');
    Object.assign(server.settings, { instructions: ' \n' });
    expect((await discover(server.url)).description).toBe('Echoes');
    Object.assign(server.settings, { instructions: undefined, title: undefined });
    expect((await discover(server.url)).description).toBeNull();
  });

  test('that declares no tools has none', async () => {
    const asked: string[] = [];
    const none = await found(({ method, result }) => {
      asked.push(method);
      return method === 'initialize' ? result({ ...INITIALIZED, capabilities: { prompts: {} } }) : false;
    });
    expect(none).toEqual({ description: null, tools: [], rejected: [], freshMs: null });
    expect(asked).not.toContain('tools/list');
  });

  test('all pages of its list are read', async () => {
    const { tools } = await found(({ method, params, result }) => {
      if (method !== 'tools/list') return false;
      const page = Number(params.cursor ?? 0);
      return result({ tools: [tool(`t${page}`)], ...(page < 4 ? { nextCursor: String(page + 1) } : {}) });
    });
    expect(tools.map(({ name }) => name)).toEqual(['t0', 't1', 't2', 't3', 't4']);
  });

  test('redirects within its origin are followed, with the credential', async () => {
    const server = await running(
      startRawMcp(certificate, ({ req, res }) =>
        req.url === '/old' ? res.writeHead(308, { location: '/mcp' }).end() : false,
      ),
    );
    expect((await discover(`${server.origin}/old`, { 'X-Api-Key': 'sk-1' })).tools).toHaveLength(1);
    expect(server.seen.every(({ headers }) => headers['x-api-key'] === 'sk-1')).toBe(true);
  });

  test.each([400, 404, 405, 406, 415])('that refuses the first POST with %i is tried over SSE', async (status) => {
    const server = await running(startRawMcp(certificate, ({ res }) => res.writeHead(status).end()));
    await expect(discover(`${server.origin}/mcp`)).rejects.toThrow(String(status));
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'POST']);
  });

  test.each([
    ['without a credential', {}, /without a credential, or not under this host name/],
    ['with one', { 'x-api-key': 'sk-1' }, /with the credential that it was sent/],
  ])('that responds with 403 %s', async (_how, headers, message) => {
    const server = await running(startRawMcp(certificate, ({ res }) => res.writeHead(403).end()));
    await expect(discover(`${server.origin}/mcp`, headers)).rejects.toThrow(message);
  });

  test.each([401, 403, 429, 500])('that responds to the first POST with %i is not tried over SSE', async (status) => {
    const server = await running(startRawMcp(certificate, ({ res }) => res.writeHead(status).end('sk-secret')));
    await expect(discover(`${server.origin}/mcp`)).rejects.toThrow(String(status));
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).not.toContain('GET /mcp');
  });
});

describe('text that cannot be stored', () => {
  test('loses NUL and halves of surrogate pairs, and is cut when it is too long', async () => {
    const { description, tools } = await found(({ method, result }) => {
      if (method === 'initialize') return result({ ...INITIALIZED, instructions: `a\0b${'x'.repeat(5000)}` });
      const schema = { type: 'object', title: 'a\0b\ud800', 'k\0': ['\\u0000'] };
      return method === 'tools/list'
        ? result({ tools: [tool('t', { description: `\0a\udc00${'😀'.repeat(4000)}`, inputSchema: schema })] })
        : false;
    });
    expect(description).toBe(`ab${'x'.repeat(3997)}…`);
    // At most 4000 characters: half of a surrogate pair would fit, and is left out.
    expect(tools[0]?.description).toBe(`a\ufffd${'😀'.repeat(1998)}…`);
    expect(tools[0]?.inputSchema).toEqual({ type: 'object', title: 'a\ufffdb\ufffd', 'k\ufffd': ['\\u0000'] });
  });

  test('a blank description is replaced by the title, else by null', async () => {
    const { tools } = await found(listing(tool('a', { description: ' ', title: 'A' }), tool('b', { description: '' })));
    expect(tools.map(({ description }) => description)).toEqual(['A', null]);
  });
});

test('a tool that cannot be used is left out, and the others are found', async () => {
  const { tools, rejected } = await found(
    listing(
      tool('a\nb'),
      tool('first'),
      tool(''),
      { name: 'schemaless' },
      tool('x'.repeat(129)),
      tool('first', { description: 'Another.' }),
      null,
      tool('last'),
    ),
  );
  expect(tools.map(({ name, description }) => [name, description === 'Another.'])).toEqual([
    ['first', false],
    ['last', false],
  ]);
  expect(rejected).toEqual([
    { name: 'a\ufffdb', reason: expect.stringMatching(/^Its name cannot be used: /) },
    { name: 'number 3 of the list', reason: expect.stringMatching(/^Its name/) },
    { name: 'schemaless', reason: expect.stringMatching(/^Its input schema cannot be used: /) },
    { name: `${'x'.repeat(127)}…`, reason: expect.stringMatching(/^Its name/) },
    { name: 'first', reason: 'A tool before it has the same name.' },
    { name: 'number 7 of the list', reason: expect.stringMatching(/^Its name/) },
  ]);
});

test('a schema that nests 5000 deep leaves its tool out', async () => {
  const nested = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
  const list = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":${nested}}]}}`;
  const { rejected } = await found(({ method, res }) =>
    method === 'tools/list' ? res.writeHead(200, { 'content-type': 'application/json' }).end(list) : false,
  );
  expect(rejected).toEqual([{ name: 't', reason: expect.stringMatching(/^Its input schema/) }]);
});

test.each([
  ['a name with NUL', tool('a\0b'), 'ab', /^Its name cannot be used/],
  ['a name of half a character', tool('a\ud800'), 'a\ufffd', /^Its name/],
  ['a name that is no text', tool(7 as unknown as string), 'number 1 of the list', /^Its name/],
  ['a schema of another type', tool('t', { inputSchema: { type: 'array' } }), 't', /^Its input schema cannot be used/],
  ['a schema that is a list', tool('t', { inputSchema: [] }), 't', /^Its input schema/],
])('a tool is left out that has %s', async (_what, listed, name, reason) => {
  const { tools, rejected } = await found(listing(listed));
  expect(tools).toEqual([]);
  expect(rejected).toEqual([{ name, reason: expect.stringMatching(reason) }]);
});

describe('a server that breaks the rules is a failure with a clear message', () => {
  const json = (res: ServerResponse, text: string) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(text);
  const pages: Answer = ({ method, result }) =>
    method === 'tools/list' ? result({ tools: [], nextCursor: 'again' }) : false;
  const stream =
    (say: (asked: Parameters<Answer>[0], id: number) => unknown): Answer =>
    (asked) =>
      asked.method === 'tools/list' ? say(asked, 1) : false;

  test.each<[string, Answer, RegExp]>([
    ['pages without end', pages, /more than 50 pages/],
    ['10,000 tools', listing(...Array.from({ length: 10_000 }, (_, i) => tool(`t${i}`))), /more than 500 tools/],
    [
      'more text than can be kept',
      listing(...Array.from({ length: 200 }, (_, i) => tool(`t${i}`, { description: 'x'.repeat(4000) }))),
      /larger than 512 KiB/,
    ],
    [
      'a huge schema',
      listing(tool('t', { inputSchema: { type: 'object', x: 'x'.repeat(600_000) } })),
      /larger than 512 KiB/,
    ],
    ['an answer of 5 MB', listing(tool('t', { description: 'x'.repeat(5_000_000) })), /larger than 4194304 bytes/],
    [
      'an event stream of 5 MB',
      stream(({ stream }) => stream().say({ method: 'x', params: { x: 'x'.repeat(5_000_000) } })),
      /larger|more than can be read/,
    ],
    [
      'a list that is none',
      ({ method, result }) => (method === 'tools/list' ? result({ tools: 'all' }) : false),
      /not valid MCP/,
    ],
    ['garbage', ({ res }) => json(res, '{{{ sk-secret'), /not valid MCP/],
    ['JSON that is no JSON-RPC', ({ res }) => json(res, '{"key":"sk-secret"}'), /not valid MCP/],
    [
      'a web page',
      ({ res }) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>sk-secret</h1>'),
      /web page, which is not MCP\. Check the path/,
    ],
    [
      'a version of the future',
      ({ method, result }) =>
        method === 'initialize' ? result({ ...INITIALIZED, protocolVersion: '2099-01-01' }) : false,
      /version not known/,
    ],
    [
      'an error with the key in it',
      ({ method, res }) =>
        method === 'tools/list'
          ? json(res, '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad key sk-secret"}}')
          : false,
      /refuses the request \(MCP error -32603\)/,
    ],
    ['401 with the key in it', ({ req, res }) => res.writeHead(401).end(JSON.stringify(req.headers)), /HTTP 401/],
    ['a status that HTTP does not have', ({ res }) => res.writeHead(799).end(), /status that HTTP does not have/],
    ['a connection that breaks', ({ res }) => res.destroy(), /closed the connection/],
    [
      'a stream that breaks',
      stream(({ stream, res }) => {
        stream();
        setImmediate(() => res.destroy());
      }),
      /closed the connection/,
    ],
    [
      'a stream that ends before the answer',
      stream(({ stream, res }) => {
        stream();
        res.end();
      }),
      /closed the connection/,
    ],
    [
      'a redirect to another server',
      ({ res }) => res.writeHead(307, { location: 'https://elsewhere.example.com/mcp' }).end(),
      /redirects to another address/,
    ],
    [
      'a redirect in a circle',
      ({ res }) => res.writeHead(307, { location: '/mcp' }).end(),
      /redirects to another address/,
    ],
    [
      'a redirect to plain HTTP',
      ({ req, res }) => res.writeHead(308, { location: `http://${req.headers.host}/mcp` }).end(),
      /redirects to another address/,
    ],
    [
      'a compression bomb',
      ({ res }) => res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'zstd' }).end('x'),
      /compression that was not asked for/,
    ],
    [
      'requests of its own without end',
      stream(({ stream }) => {
        const { say } = stream();
        for (let id = 0; id < 1000; id += 1) say({ id, method: 'ping' });
      }),
      /too many requests of its own/,
    ],
    [
      'an SSE endpoint elsewhere',
      ({ req, res }) =>
        req.method === 'POST'
          ? res.writeHead(405).end()
          : res
              .writeHead(200, { 'content-type': 'text/event-stream' })
              .write('event: endpoint\ndata: https://elsewhere.example.com/m\n\n'),
      /not valid MCP/,
    ],
    [
      'an SSE stream that ends',
      ({ req, res }) =>
        req.method === 'POST'
          ? res.writeHead(405).end()
          : res.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      /closed the connection/,
    ],
    ['neither of the transports', ({ res }) => res.writeHead(404).end(), /no MCP endpoint at this address/],
  ])('%s', async (_what, answer, message) => {
    expect(await failure(answer)).toMatch(message);
  });

  const dribble = (res: { write(text: string): unknown; on(event: 'close', then: () => void): unknown }) => {
    const timer = setInterval(() => res.write(' '), 20);
    res.on('close', () => clearInterval(timer));
  };

  test.each<[string, Answer]>([
    ['never', () => undefined],
    ['never, once it was greeted', ({ method }) => (method === 'tools/list' ? undefined : false)],
    ['with an endless drip', ({ res }) => dribble(res.writeHead(200, { 'content-type': 'application/json' }))],
    [
      'with an endless drip of comments',
      stream(({ stream, res }) => {
        stream();
        dribble(res);
      }),
    ],
    ['to a question that nobody asked', stream(({ stream }) => stream().say({ id: 77, result: { tools: [] } }))],
    [
      'by sending it on to resume, for ever',
      ({ method, res, stream }) => {
        if (method !== 'tools/list' && method !== 'GET') return false;
        stream();
        return res.end('retry: 0\nid: 1\ndata:\n\n');
      },
    ],
    [
      'over SSE without an endpoint',
      ({ req, res }) =>
        req.method === 'POST'
          ? res.writeHead(405).end()
          : res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    ],
    ['the leave-taking neither', ({ method }) => (['tools/list', 'DELETE'].includes(method) ? undefined : false)],
  ])('an answer that comes %s', async (_what, answer) => {
    expect(await failure(answer, 500)).toMatch(/in time|did not answer completely within 500 ms/);
  });

  test('everything together ends within ten seconds', () => {
    // That both hold is tested above, with a shorter time.
    expect(DISCOVERY_TIMEOUT_MS + CLOSE_TIMEOUT_MS).toBeLessThan(10_000);
  });

  test('a stream that ends again and again is resumed only after a pause', async () => {
    let resumed = 0;
    await failure(({ method, res, stream }) => {
      if (method !== 'tools/list' && method !== 'GET') return false;
      if (method === 'GET') resumed += 1;
      stream();
      return res.end('retry: 0\nid: 1\ndata:\n\n');
    }, 1800);
    expect(resumed).toBeGreaterThan(0);
    expect(resumed).toBeLessThan(5);
  });
});
