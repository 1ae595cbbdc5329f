// Longer than most: servers of three revisions, each with what it may do that the others do not know.
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool, type McpPoolOptions, type McpServer as Target } from '../../../runtime/mcp/pool.ts';
import { until } from '../../support/poll.ts';
import { startMcpServer, startTls, type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, type RawMcpCall, startRawMcp, tool } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
const servers: TlsServer[] = [];
const pools: McpPool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

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

const at = (server: TlsServer): Target => ({
  workspaceId: 'w',
  id: 's',
  configVersion: 1,
  url: `${server.origin}/mcp`,
  headers: {},
});
const calling = (tool: string, more: object = {}) => ({
  instanceMode: 'STATIC' as const,
  tool,
  arguments: {},
  ...more,
});
const discover = (server: TlsServer, headers = {}, timeoutMs = 8_000) =>
  discoverTools({ url: `${server.origin}/mcp`, headers, allowPrivateNetwork: true, workspaceId: null, timeoutMs });
const methods = (server: TlsServer) => server.seen.map(({ method }) => method);

/** A server of 2026-07-28 made with the second SDK. */
function startModern(): Promise<TlsServer> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'modern', version: '1', title: 'Modern one' });
    server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }));
    server.registerTool('ask', {}, ({ mcpReq }) => {
      if (mcpReq.inputResponses) return { content: [{ type: 'text', text: JSON.stringify(mcpReq.inputResponses) }] };
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({ message: 'Who are you?', requestedSchema: { type: 'object', properties: {} } }),
        },
      });
    });
    return server;
  });
  return startTls(certificate, async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const init = { method: req.method ?? 'GET', headers: req.headers as Record<string, string>, ...body };
    const answer = await handler.fetch(new Request(`https://127.0.0.1${req.url}`, init));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) res.write(piece);
    res.end();
  });
}

/** A raw server of 2026-07-28. */
const modern =
  (answer: Answer): Answer =>
  (call) =>
    call.method === 'server/discover'
      ? call.result({
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          ttlMs: 0,
          cacheScope: 'private',
        })
      : answer(call);

describe('a server of 2026-07-28', () => {
  test('is discovered and called without a session', async () => {
    const server = await running(startModern());
    const { tools, description } = await discover(server);
    expect([tools.map(({ name }) => name), description]).toEqual([['add', 'ask'], 'Modern one']);
    expect(methods(server)).toEqual(['POST', 'POST']);
    const pool = makePool();
    expect((await pool.call(at(server), calling('add', { arguments: { a: 2, b: 3 } }))).text).toBe('5');
    expect((await pool.call(at(server), calling('add', { arguments: { a: 2, b: 4 } }))).text).toBe('6');
    // What listens for changes goes its own way, beside the calls.
    await until(() => server.seen.length >= 6);
    const asked = server.seen.map(({ headers }) => headers['mcp-method']);
    expect(asked.slice(0, 2)).toEqual(['server/discover', 'tools/list']);
    expect(asked.slice(2).sort()).toEqual(['server/discover', 'subscriptions/listen', 'tools/call', 'tools/call']);
    expect(server.seen.every(({ headers }) => headers['mcp-session-id'] === undefined)).toBe(true);
    const last = server.seen.findLast(({ headers }) => headers['mcp-method'] !== 'subscriptions/listen');
    expect(last?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'add',
    });
  });

  test('that asks for input is told that there is none, or says what it lacks', async () => {
    const server = await running(startModern());
    const { text } = await makePool().call(at(server), calling('ask'));
    expect(text).toContain('nobody can answer a server during a call');
  });

  test('that asks a thousand times is asked four times, and the model reads what it wanted', async () => {
    const rounds: unknown[] = [];
    const server = await running(
      startRawMcp(
        certificate,
        modern(({ method, params, result }) => {
          if (method !== 'tools/call') return false;
          rounds.push(params.inputResponses);
          const ask = { method: 'elicitation/create', params: { message: 'Who are you?' } };
          return result({ resultType: 'input_required', inputRequests: { who: ask }, requestState: 'x' });
        }),
      ),
    );
    const { text, isError } = await makePool().call(at(server), calling('t'));
    expect([isError, text]).toEqual([true, expect.stringContaining('“Who are you?”')]);
    const declined = { who: { action: 'decline' } };
    expect(rounds).toEqual([undefined, declined, declined, declined]);
  });

  test('that wants an answer of a model is refused at once', async () => {
    const server = await running(
      startRawMcp(
        certificate,
        modern(({ method, result }) =>
          method === 'tools/call'
            ? result({ resultType: 'input_required', inputRequests: { a: { method: 'sampling/createMessage' } } })
            : false,
        ),
      ),
    );
    const { text, isError } = await makePool().call(at(server), calling('t'));
    expect([isError, text]).toEqual([true, expect.stringContaining('an answer of a language model')]);
    expect(methods(server)).toEqual(['POST', 'POST']);
  });
});

describe('a server of 2026-07-28 that does not say so', () => {
  const lacks = ({ id, res }: RawMcpCall, status = 404, code = -32601, data: object = {}) =>
    res
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no', data } }));
  const serving =
    (refuse: (call: RawMcpCall) => unknown): Answer =>
    (call) => {
      if (call.params._meta === undefined) return refuse(call);
      if (call.method === 'tools/list') return call.result({ resultType: 'complete', tools: [tool('t')] });
      if (call.method === 'tools/call') return call.result({ content: [{ type: 'text', text: 'yes' }] });
      return refuse(call);
    };

  test.each<[string, (call: RawMcpCall) => unknown]>([
    ['404 and an error', (call) => lacks(call)],
    ['an error alone', (call) => lacks(call, 200)],
    [
      'its revision',
      (call) => lacks(call, 400, call.method === 'initialize' ? -32022 : -32601, { supported: ['2026-07-28'] }),
    ],
  ])('and answers what it lacks with %s is used all the same', async (_how, refuse) => {
    const server = await running(startRawMcp(certificate, serving(refuse)));
    expect((await discover(server)).tools.map(({ name }) => name)).toEqual(['t']);
    expect((await makePool().call(at(server), calling('t'))).text).toBe('yes');
  });

  test('and has no tools either is refused with what it said first', async () => {
    const none = await running(startRawMcp(certificate, (call) => lacks(call)));
    await expect(discover(none)).rejects.toThrow(/no MCP endpoint at this address \(HTTP 404\).* often \/mcp or \/sse/);
    const odd = await running(startRawMcp(certificate, (call) => lacks(call, 200)));
    await expect(discover(odd)).rejects.toThrow('MCP error -32601');
  });

  test('but only of revisions to come is refused with their names', async () => {
    const supported = ['2027-03-01', 'sk-secret', '2027-09-30'];
    const server = await running(startRawMcp(certificate, (call) => lacks(call, 400, -32022, { supported })));
    await expect(discover(server)).rejects.toThrow(/not known here \(2027-03-01, 2027-09-30\)/);
  });
});

test('a method that a server of 2026-07-28 lacks is an error of the call, not of the address', async () => {
  const server = await running(
    startRawMcp(
      certificate,
      modern(({ id, res }) =>
        res
          .writeHead(404, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'No such tool' } })),
      ),
    ),
  );
  expect(await makePool().call(at(server), calling('t'))).toMatchObject({ isError: true, text: 'No such tool' });
});

describe('a server of before', () => {
  test('is asked first which revision it speaks, and not at each connection', async () => {
    const server = await running(startMcpServer(certificate));
    const pool = makePool();
    const call = { instanceMode: 'DYNAMIC' as const, tool: 'echo', arguments: { text: 'a' } };
    await pool.call(at(server), call);
    await pool.call(at(server), call);
    const asked = server.seen.filter(({ headers }) => headers['mcp-method'] === 'server/discover');
    expect([asked.length, server.begun]).toEqual([1, 2]);
  });

  test.each<[string, Answer]>([
    ['garbage', ({ res }) => res.writeHead(200, { 'content-type': 'application/json' }).end('{{{')],
    ['a web page', ({ res }) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>')],
    ['a failure', ({ res }) => res.writeHead(500).end('no such method')],
    ['a list', ({ result }) => result([])],
    ['nothing', () => undefined],
  ])('that answers the first question with %s is spoken to by initialize', async (_what, answer) => {
    const server = await running(
      startRawMcp(certificate, (call) => (call.method === 'server/discover' ? answer(call) : false)),
    );
    expect((await discover(server)).tools).toHaveLength(1);
  });

  test('that asks on a stream of its own is answered, and the model reads what it asked for', async () => {
    let answered: Record<string, unknown> | undefined;
    let listening: ((message: object) => void) | undefined;
    let finish: (() => void) | undefined;
    const server = await running(
      startTls(certificate, async (req, res) => {
        if (req.method === 'GET') {
          res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
          listening = (message) => void res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
          return;
        }
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk);
        const { id, method, result } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
        const say = (value: object) =>
          res
            .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's-1' })
            .end(JSON.stringify({ jsonrpc: '2.0', id, result: value }));
        if (method === 'server/discover') return res.writeHead(400).end();
        if (method === 'initialize') {
          return say({
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'a', version: '1' },
          });
        }
        if (method === 'tools/call') {
          finish = () => say({ content: [{ type: 'text', text: 'Without it.' }] });
          return listening?.({ id: 7, method: 'elicitation/create', params: { message: 'Which day?' } });
        }
        res.writeHead(method === undefined ? 202 : 202).end();
        if (id === 7) {
          answered = result;
          finish?.();
        }
      }),
    );
    const { text, isError } = await makePool().call(at(server), calling('t'));
    expect(answered).toEqual({ action: 'decline' });
    expect([isError, text]).toEqual([
      false,
      expect.stringMatching(/^Without it\.\n\[The server asked for .*“Which day\?”/),
    ]);
  });
});

describe('progress', () => {
  const reporting =
    (times: number, everyMs: number): Answer =>
    ({ method, params, stream, res }) => {
      if (method !== 'tools/call') return false;
      const { progressToken } = Object(params._meta) as { progressToken: number };
      const { say } = stream();
      let progress = 0;
      const timer = setInterval(() => {
        progress += 1;
        say({ method: 'notifications/progress', params: { progressToken, progress } });
        if (progress === times) say({ id: progressToken, result: { content: [{ type: 'text', text: 'Done.' }] } });
      }, everyMs);
      res.on('close', () => clearInterval(timer));
      return undefined;
    };

  test('extends the time of a call', async () => {
    const server = await running(startRawMcp(certificate, reporting(8, 250)));
    const pool = makePool({ timeoutMs: 1_500, maxTimeoutMs: 60_000 });
    expect((await pool.call(at(server), calling('t'))).text).toBe('Done.');
  });

  test('extends it up to a maximum, however much a server reports, and everything is freed', async () => {
    const server = await running(startRawMcp(certificate, reporting(Number.POSITIVE_INFINITY, 1)));
    const pool = makePool({ timeoutMs: 400, maxTimeoutMs: 1_200 });
    await expect(pool.call(at(server), calling('t'))).rejects.toThrow(/in time|within 1200 ms/);
    await until(() => pool.size === 0 && server.connections() === 0);
  });

  test('ends with the signal of the call, and the server is told', async () => {
    const told: unknown[] = [];
    let begun = 0;
    const answer = reporting(Number.POSITIVE_INFINITY, 20);
    const server = await running(
      startRawMcp(certificate, (call) => {
        if (call.method === 'tools/call') begun += 1;
        if (call.method === 'notifications/cancelled') told.push(call.params.requestId);
        return answer(call);
      }),
    );
    const stop = new AbortController();
    const pool = makePool();
    const call = pool.call(at(server), calling('t', { signal: stop.signal }));
    // It keeps the session open.
    const other = pool.call(at(server), calling('t')).catch((error: Error) => error.message);
    await until(() => begun === 2);
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await until(() => told.length === 1);
    await pool.close();
    expect(await other).toMatch(/stopping|closed/);
    await until(() => server.connections() === 0);
  });
});

describe('a server that wants OAuth', () => {
  const challenge = 'Bearer resource_metadata="https://x.example.com/.well-known/oauth-protected-resource"';

  test.each([
    ['a challenge', { 'www-authenticate': challenge }, {}],
    [
      'a token that it does not take',
      { 'www-authenticate': 'Bearer error="invalid_token"' },
      { Authorization: 'Bearer a' },
    ],
  ])('by %s is named as such, with what to do', async (_how, headers, sent) => {
    const server = await running(startRawMcp(certificate, ({ res }) => res.writeHead(401, headers).end()));
    const message =
      Object.keys(sent).length > 0
        ? /^The server does not accept .* and asks for a login/
        : /^The server asks for a login/;
    await expect(discover(server, sent)).rejects.toThrow(message);
    await expect(makePool().call({ ...at(server), headers: sent }, calling('t'))).rejects.toThrow(/BEARER_TOKEN/);
  });

  test('by what it publishes is named as such', async () => {
    const server = await running(
      startRawMcp(certificate, ({ req, res }) =>
        req.url === '/.well-known/oauth-protected-resource/mcp'
          ? res.writeHead(200).end('{"resource":"x","authorization_servers":["https://login.example.com"]}')
          : res.writeHead(401).end(),
      ),
    );
    await expect(discover(server)).rejects.toThrow(/asks for a login by OAuth \(HTTP 401\)/);
  });

  test('is not one that only wants a key', async () => {
    const server = await running(
      startRawMcp(certificate, ({ res }) => res.writeHead(401, { 'www-authenticate': 'Bearer' }).end()),
    );
    await expect(discover(server)).rejects.toThrow(/^The server asks for a credential, or does not accept/);
  });
});
