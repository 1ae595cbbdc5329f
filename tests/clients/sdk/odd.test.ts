import {
  ConnectionError,
  GuildhallError,
  guildhall,
  type StreamEvent,
  TimeoutError,
} from '../../../clients/sdk/index.ts';
import type { GuildhallOptions } from '../../../clients/sdk/options.ts';
import {
  apiError,
  hangUp,
  json,
  type OddServer,
  type OddStep,
  startOddServer,
  stream,
} from '../../support/clients/oddServer.ts';
import { poll } from '../../support/poll.ts';

let server: OddServer;
let other: OddServer;
beforeAll(async () => {
  [server, other] = await Promise.all([startOddServer(), startOddServer()]);
});
afterAll(() => Promise.all([server.close(), other.close()]));

const KEY = 'gsk_key';
const client = (options: GuildhallOptions = {}) => guildhall({ apiKey: KEY, baseUrl: server.origin, ...options });
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was thrown',
    (error) => error,
  );
const text =
  (status: number, type: string, body: string): OddStep =>
  (response) =>
    response.writeHead(status, { 'content-type': type, 'x-request-id': 'of-the-proxy' }).end(body);

describe("an answer that is not the API's", () => {
  test('the page of a proxy is an error with a sentence of the page', async () => {
    const page =
      '<html><head><style>body { color: red }</style></head>\n<body><h1>502 Bad Gateway</h1><hr>nginx</body></html>';
    server.script(text(502, 'text/html; charset=utf-8', page));
    const error = await thrown(client().call('getHealth'));
    expect(error).toBeInstanceOf(GuildhallError);
    expect(error).toMatchObject({ status: 502, code: 'UNREADABLE_RESPONSE', requestId: 'of-the-proxy' });
    expect((error as Error).message).toBe(
      'The answer 502 Bad Gateway (text/html) is not one of the API. It begins: 502 Bad Gateway nginx',
    );
  });

  test('a success that is no JSON is an error, too', async () => {
    server.script(text(200, 'text/html', '<h1>Welcome to the hotel</h1>'));
    expect(await thrown(client().call('getHealth'))).toMatchObject({ status: 200, code: 'UNREADABLE_RESPONSE' });
  });

  test.each(['', 'null', '[]', '"text"', '{"code":1,"message":2}', '{"error":"invalid"}'])(
    '%j is none',
    async (body) => {
      server.script(text(500, 'application/json', body));
      expect(await thrown(client().call('getHealth'))).toMatchObject({ status: 500, code: 'UNREADABLE_RESPONSE' });
    },
  );

  test('of a huge one the beginning is read', async () => {
    let closed = false;
    server.script((response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      response.on('close', () => {
        closed = true;
      });
      const more = () => {
        while (!closed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const error = (await thrown(client().call('getHealth'))) as Error;
    expect(error).toMatchObject({ status: 500, code: 'UNREADABLE_RESPONSE' });
    expect(error.message.length).toBeLessThan(300);
    await poll(() => closed, Boolean);
  });

  test('a code that the document does not have yet arrives as it is', async () => {
    server.script(apiError(418, 'NEW_CODE'));
    expect(await thrown(client().call('getHealth'))).toMatchObject({ status: 418, code: 'NEW_CODE' });
  });
});

describe('a redirect', () => {
  const redirect =
    (status: number, location: string): OddStep =>
    (response) =>
      response.writeHead(status, { location }).end();

  test.each([301, 302, 307, 308])('%i to another origin is an error, and the key is not sent there', async (status) => {
    other.script(json(200, {}));
    server.script(redirect(status, `${other.origin}/public/api/v1/health`));
    for (const work of [
      client().call('getHealth'),
      client().http.GET('/health'),
      client().send({ method: 'GET', path: 'health' }),
    ]) {
      const error = await thrown(work);
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as Error).message).toContain(`redirects to ${other.origin}. The key is not sent there`);
    }
    expect(other.received).toEqual([]);
  });

  test('307 within the service is followed, with the body', async () => {
    server.script(redirect(307, '/public/api/v1/elsewhere'), json(201, { publicId: 'x' }));
    await client().call('createAgent', { body: { name: 'Shop' } });
    expect(server.received.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/public/api/v1/agents', '{"name":"Shop"}'],
      ['POST', '/public/api/v1/elsewhere', '{"name":"Shop"}'],
    ]);
  });

  test.each([
    [
      '302, which would lose the body,',
      redirect(302, '/public/api/v1/elsewhere'),
      'with a redirect that loses its body',
    ],
    ['one that leads back', redirect(308, '/public/api/v1/agents'), 'redirects again and again'],
    ['one that leads nowhere', redirect(308, 'http://['), 'to an address that cannot be read'],
  ])('%s is an error', async (_, step, sentence) => {
    server.script(step);
    const error = await thrown(client().call('createAgent', { body: { name: 'Shop' } }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toContain(sentence);
  });
});

test.each([
  ['ENOTFOUND', 'There is no host with the name in <origin>.'],
  ['EAI_AGAIN', 'The name in <origin> could not be looked up.'],
  ['UND_ERR_CONNECT_TIMEOUT', '<origin> could not be reached in time.'],
  ['CERT_HAS_EXPIRED', '<origin> cannot be reached (CERT_HAS_EXPIRED: why).'],
  ['UND_ERR_HEADERS_TIMEOUT', '<origin> did not answer within 300 seconds.'],
])('what Node.js says of a connection is a sentence: %s', async (code, sentence) => {
  const failing = () => Promise.reject(new TypeError('fetch failed', { cause: { code, message: 'why' } }));
  const error = (await thrown(client({ fetch: failing, retries: 0 }).call('getHealth'))) as Error;
  expect(error.message).toBe(sentence.replace('<origin>', server.origin));
});

describe('the options', () => {
  test.each(['', 'gsk key', 'gsk_key\n', 'gsk_kéy'])('a key that no header can carry is not repeated: %j', (apiKey) => {
    let message = '';
    try {
      guildhall({ apiKey });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/^The API key is empty, or contains/);
    expect(message).not.toContain('gsk');
  });

  test.each([
    'guildhall.example',
    'ftp://guildhall.example',
    'https://',
    'https://user:pass@guildhall.example',
    'https://guildhall.example?x=1',
  ])('%s is no address of a service', (baseUrl) => expect(() => guildhall({ baseUrl })).toThrow(/^baseUrl must/));

  test.each([
    ['', '/public/api/v1/health'],
    ['/', '/public/api/v1/health'],
    ['/public/api/v1', '/public/api/v1/health'],
    ['/public/api/v1/', '/public/api/v1/health'],
    ['/mounted', '/mounted/public/api/v1/health'],
    ['/mounted/public/api/v1', '/mounted/public/api/v1/health'],
  ])('the address may end with %j', async (ending, url) => {
    server.script(json(200, {}));
    const api = client({ baseUrl: server.origin + ending });
    await api.call('getHealth');
    await api.http.GET('/health');
    for (const path of ['health', '/health', '/public/api/v1/health']) await api.send({ method: 'GET', path });
    expect(new Set(server.received.map((each) => each.url))).toEqual(new Set([url]));
  });

  test('every request has the key, the name of the program and the headers', async () => {
    server.script(json(200, {}));
    const api = client({ userAgent: 'shop/2.0', headers: { 'X-Trace': 'one' } });
    await api.call('getHealth', { headers: { 'X-Trace': 'two' } });
    await api.http.GET('/health');
    await api.send({ method: 'GET', path: 'health' });
    const { version } = (await import('../../../clients/sdk/package.json', { with: { type: 'json' } })).default;
    const sent = server.received.map(({ headers }) => [
      headers['x-api-key'],
      headers['user-agent'],
      headers['x-trace'],
    ]);
    const agent = `shop/2.0 guildhall-sdk/${version}`;
    expect(sent).toEqual([
      [KEY, agent, 'two'],
      [KEY, agent, 'one'],
      [KEY, agent, 'one'],
    ]);
  });

  test.each(['https://evil.example/public/api/v1/health', '../../x', '/agents/../../../../x', 'http://['])(
    'the key is not sent to %s',
    async (path) => {
      server.script(json(200, {}));
      expect(await thrown(client().send({ method: 'GET', path }))).toBeInstanceOf(TypeError);
      expect(server.received).toEqual([]);
    },
  );

  test.each(['', '.', '..'])(
    'a parameter of the path is not %j: that would be another operation',
    async (agentPublicId) => {
      server.script(json(200, {}));
      const error = await thrown(client().call('deleteAgent', { path: { agentPublicId } }));
      expect((error as Error).message).toBe('deleteAgent needs path.agentPublicId.');
      await client().call('deleteAgent', { path: { agentPublicId: 'a/../b?c' } });
      expect(server.received.map(({ url }) => url)).toEqual(['/public/api/v1/agents/a%2F..%2Fb%3Fc']);
    },
  );

  test('what cannot be a request says so before anything is sent', async () => {
    server.script(json(200, {}));
    expect(await thrown(client().call('toString' as 'getHealth'))).toBeInstanceOf(TypeError);
    expect(await thrown(client().call('streamMessage', {} as never))).toBeInstanceOf(TypeError);
    expect(await thrown(client().send({ method: 'get', path: 'health', body: '{}' }))).toBeInstanceOf(TypeError);
    expect(server.received).toEqual([]);
  });
});

describe('a list', () => {
  const page = (number: number, ...ids: string[]) =>
    json(200, { items: ids.map((publicId) => ({ publicId })), page: number, limit: 2, total: 5, totalPages: 3 });

  test('is read page by page, and what moved to the next page meanwhile comes once', async () => {
    server.script(page(1, 'e', 'd'), page(2, 'd', 'c'), page(3, 'b', 'a'));
    const found: string[] = [];
    for await (const { publicId } of client().items('listAgents', { query: { status: ['active'] } }))
      found.push(publicId);
    expect(found.join('')).toBe('edcba');
    expect(server.received.map(({ url }) => url)).toEqual([
      '/public/api/v1/agents?limit=100&status=active',
      '/public/api/v1/agents?limit=100&status=active&page=2',
      '/public/api/v1/agents?limit=100&status=active&page=3',
    ]);
  });

  test('is read no further than it is needed, and not beyond an empty page', async () => {
    server.script(page(1, 'e', 'd'));
    for await (const { publicId } of client().items('listAgents')) if (publicId === 'd') break;
    expect(server.received.length).toBe(1);
    server.script(page(2));
    for await (const _ of client().items('listAgents', { query: { page: 2, limit: 2 } }))
      throw new Error('It is empty.');
    expect(server.received.map(({ url }) => url)).toEqual(['/public/api/v1/agents?limit=2&page=2']);
  });
});

describe('a stream', () => {
  const begin = 'event: conversation-id\ndata: {"conversationId":"c"}\n\n';
  const piece = (text: string) => `event: text-delta\ndata: ${JSON.stringify({ text })}\n\n`;
  const end = 'event: debug-info\ndata: {}\n\n';
  const agent = { path: { agentPublicId: '0199a3f2-0000-7000-8000-00000000dead' }, body: { content: 'Hello' } };
  const read = async (options: GuildhallOptions = {}, input: object = {}) => {
    const events: string[] = [];
    const work = async () => {
      for await (const { event, data } of client(options).events({ ...agent, ...input })) {
        events.push(`${event} ${'text' in data ? data.text : ''}`.trim());
      }
    };
    const error = await work().then(
      () => undefined,
      (reason) => reason,
    );
    return { events, error };
  };
  const cut = (response: Parameters<OddStep>[0]) => setImmediate(() => response.destroy());

  test('ends after the last event, and closes the connection that stays open', async () => {
    let closed = false;
    server.script((response, request) => {
      response.on('close', () => {
        closed = true;
      });
      stream(begin, piece('Hel'), piece('lo'), end, piece('too late'))(response, request);
    });
    expect(await read()).toEqual({
      events: ['conversation-id', 'text-delta Hel', 'text-delta lo', 'debug-info'],
      error: undefined,
    });
    expect(server.received[0]?.headers).toMatchObject({ accept: 'text/event-stream', 'x-api-key': KEY });
    await poll(() => closed, Boolean);
  });

  test('is whole however its bytes arrive, with line ends of Windows, comments and events of a later version', async () => {
    const bytes = new TextEncoder().encode(
      `: hello\r\n\r\n${begin}event: new-event\ndata: nonsense\n\n${piece('größer 🐢').replaceAll('\n', '\r\n')}: still here\n\n${end}`,
    );
    server.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const next = (index: number) => {
        if (index < bytes.length) response.write(bytes.slice(index, index + 1), () => next(index + 1));
      };
      next(0);
    });
    expect((await read()).events).toEqual(['conversation-id', 'text-delta größer 🐢', 'debug-info']);
  });

  test('ends with the error of a turn that failed', async () => {
    const failed =
      'event: error\ndata: {"code":"AGENT_TIMEOUT","message":"It took too long.","status":408,"requestId":"r"}\n\n';
    server.script(stream(begin, failed));
    expect(await read()).toEqual({ events: ['conversation-id', 'error'], error: undefined });
  });

  const ended: OddStep = (response, request) => {
    stream(begin, piece('Hel'))(response, request);
    response.end();
  };
  const destroyed: OddStep = (response, request) => {
    stream(begin, piece('Hel'))(response, request);
    cut(response);
  };
  test.each([
    ['ends', ended, 'ended the stream in the middle of the reply.'],
    ['breaks', destroyed, 'closed the connection before its answer was complete.'],
    ['has an endless event', stream(begin, `data: ${'x'.repeat(17_000_000)}`), 'sent an event without an end.'],
    ['has garbage', stream(begin, piece('Hel'), 'event: text-delta\ndata: {\n\n'), 'sent an event that is no JSON.'],
  ])('that %s without a last event is a ConnectionError after the events that came', async (_, step, sentence) => {
    server.script(step);
    const { events, error } = await read();
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toBe(`${server.origin} ${sentence}`);
    expect(events.slice(0, 1)).toEqual(['conversation-id']);
    expect(server.received.length).toBe(1);
  });

  test('that falls silent is a TimeoutError', async () => {
    server.script(stream(begin));
    const { events, error } = await read({}, { timeoutMs: 200 });
    expect([events, error.constructor]).toEqual([['conversation-id'], TimeoutError]);
  });

  test('may last longer than the time, while something comes', async () => {
    server.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(begin);
      let left = 15;
      const timer = setInterval(() => {
        response.write(left > 0 ? ': still here\n\n' : end);
        if (left-- === 0) clearInterval(timer);
      }, 100);
    });
    expect((await read({}, { timeoutMs: 1_000 })).events).toEqual(['conversation-id', 'debug-info']);
  });

  test('that never begins is asked for again with its key', async () => {
    server.script(hangUp, stream(begin, end));
    expect((await read()).events).toEqual(['conversation-id', 'debug-info']);
    const [first, second] = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/./);
    expect(second).toBe(first);
  });

  test('that is refused is the error of the operation', async () => {
    server.script(apiError(404, 'AGENT_NOT_FOUND'));
    expect((await read()).error).toMatchObject({ code: 'AGENT_NOT_FOUND', operationId: 'streamMessage' });
    server.script(text(200, 'text/html', '<h1>Hello</h1>'));
    expect((await read()).error).toMatchObject({ code: 'UNREADABLE_RESPONSE', status: 200 });
  });

  test.each(['leaves the loop', 'aborts'])('whoever %s closes the connection', async (way) => {
    let closed = false;
    server.script((response, request) => {
      response.on('close', () => {
        closed = true;
      });
      stream(begin)(response, request);
    });
    const controller = new AbortController();
    const reason = new Error('Enough.');
    const events: StreamEvent[] = [];
    const work = async () => {
      for await (const event of client().events({ ...agent, signal: controller.signal })) {
        events.push(event);
        if (way === 'leaves the loop') break;
        controller.abort(reason);
      }
      return 'left';
    };
    expect(await work().catch((error) => error)).toBe(way === 'aborts' ? reason : 'left');
    expect(events.length).toBe(1);
    await poll(() => closed, Boolean);
  });
});
