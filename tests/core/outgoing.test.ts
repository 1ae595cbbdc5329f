import { once } from 'node:events';
import type http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import {
  createOutgoingClient,
  guardedFetch,
  OutgoingFailed,
  OutgoingRefused,
  type OutgoingRequest,
} from '../../core/outgoing.ts';
import {
  base,
  clientFor,
  failureOf,
  LIMITS,
  PRIVATE,
  PUBLIC,
  type Route,
  routes,
  serverPort,
  trapConnections,
  trapPort,
  useServers,
} from './outgoingServers.ts';

useServers();

describe('redirects that are followed', () => {
  const redirectTo =
    (location: string, status = 302): Route =>
    (_req, res) =>
      res.writeHead(status, { location }).end('moved');

  test('are followed up to the limit and not further', async () => {
    routes.set('/hop', (req, res) => {
      const left = Number(new URL(req.url ?? '', base).searchParams.get('left'));
      if (left === 0) res.end('arrived');
      else res.writeHead(302, { location: `/hop?left=${left - 1}` }).end();
    });
    const response = await guardedFetch(`${base}/hop?left=5`, PRIVATE);
    expect(response).toMatchObject({ status: 200, url: `${base}/hop?left=0` });
    const error = await failureOf(guardedFetch(`${base}/hop?left=6`, PRIVATE));
    expect(error).toMatchObject({ name: 'OutgoingFailed', reason: 'redirect' });
    expect(await failureOf(guardedFetch(`${base}/hop?left=1`, { ...PRIVATE, maxRedirects: 0 }))).toBeInstanceOf(
      OutgoingFailed,
    );
  });

  test('to another origin lose every header that could be a secret, and do not get it back', async () => {
    const seen: http.IncomingHttpHeaders[] = [];
    const record =
      (next: string | null): Route =>
      (req, res) => {
        seen.push(req.headers);
        if (next === null) res.end('done');
        else res.writeHead(307, { location: next }).end();
      };
    routes.set('/a', record('/b'));
    routes.set('/b', record('http://other.example.com/c'));
    routes.set('/c', record('http://start.example.com/d'));
    routes.set('/d', record(null));
    const { guardedFetch } = clientFor({ 'start.example.com': [PUBLIC], 'other.example.com': [PUBLIC] });
    const secrets = { Authorization: 'Bearer s', Cookie: 'a=b', 'X-Api-Key': 'k', 'X-Signature': 'sig' };
    await guardedFetch('http://start.example.com/a', { ...LIMITS, headers: secrets, accept: 'text/plain' });
    expect(
      seen.map((headers) => [
        headers.host,
        headers.authorization,
        headers.cookie,
        headers['x-api-key'],
        headers.accept,
      ]),
    ).toEqual([
      ['start.example.com', 'Bearer s', 'a=b', 'k', 'text/plain'],
      ['start.example.com', 'Bearer s', 'a=b', 'k', 'text/plain'],
      ['other.example.com', undefined, undefined, undefined, 'text/plain'],
      ['start.example.com', undefined, undefined, undefined, 'text/plain'],
    ]);
    expect(seen[2]).not.toHaveProperty('x-signature');
  });

  test.each([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'payload'],
    [308, 'POST', 'payload'],
  ])('%i turns a POST into %s with body "%s"', async (status, method, body) => {
    routes.set('/from', redirectTo('/to', status));
    routes.set('/to', (req, res) => {
      let text = '';
      req.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      req.on('end', () => res.end(JSON.stringify([req.method, text])));
    });
    const response = await guardedFetch(`${base}/from`, { ...PRIVATE, method: 'POST', body: 'payload' });
    expect(JSON.parse(String(response.body))).toEqual([method, body]);
  });

  test('without a Location are an ordinary answer', async () => {
    routes.set('/', (_req, res) => res.writeHead(302).end('nowhere'));
    expect(await guardedFetch(`${base}/`, PRIVATE)).toMatchObject({ status: 302 });
  });
});

describe('a real exchange', () => {
  test('carries method, headers and body, and gives back status, headers and body', async () => {
    routes.set('/echo', (req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        res.writeHead(201, { 'content-type': 'application/json', 'x-two': ['1', '2'] });
        res.end(JSON.stringify({ method: req.method, headers: req.headers, body: Buffer.concat(chunks).toString() }));
      });
    });
    const response = await guardedFetch(`${base}/echo#part`, {
      ...PRIVATE,
      method: 'put',
      headers: { 'X-Mine': 'yes', Host: 'evil.example.com', 'Transfer-Encoding': 'chunked', 'Content-Length': '1' },
      body: Buffer.from('hello'),
    });
    expect(response.status).toBe(201);
    expect(response.url).toBe(`${base}/echo`);
    expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'x-two': '1, 2' });
    const echoed = JSON.parse(String(response.body));
    expect(echoed).toMatchObject({ method: 'PUT', body: 'hello', headers: { 'x-mine': 'yes', 'content-length': '5' } });
    expect(echoed.headers.host).toBe(`127.0.0.1:${serverPort}`);
    expect(echoed.headers).not.toHaveProperty('transfer-encoding');
  });

  test('an error status is a result', async () => {
    expect(await guardedFetch(`${base}/absent`, PRIVATE)).toMatchObject({ status: 404, body: Buffer.from('no route') });
  });

  test.each([
    ['gzip', zlib.gzipSync('squeezed')],
    ['br', zlib.brotliCompressSync('squeezed')],
    ['deflate', zlib.deflateSync('squeezed')],
  ])('%s is undone', async (encoding, bytes) => {
    routes.set('/', (_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end(bytes));
    const response = await guardedFetch(`${base}/`, PRIVATE);
    expect(String(response.body)).toBe('squeezed');
    expect(response.headers).not.toHaveProperty('content-encoding');
  });

  test('HEAD and 204 have no body, whatever the headers promise', async () => {
    routes.set('/head', (_req, res) =>
      res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '999999' }).end(),
    );
    routes.set('/none', (_req, res) => res.writeHead(204, { 'content-encoding': 'gzip' }).end());
    expect((await guardedFetch(`${base}/head`, { ...PRIVATE, method: 'HEAD' })).body).toHaveLength(0);
    expect((await guardedFetch(`${base}/none`, PRIVATE)).body).toHaveLength(0);
  });

  test('proxy variables of the environment are ignored', async () => {
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = `http://127.0.0.1:${trapPort}`;
    routes.set('/', (_req, res) => res.end('direct'));
    try {
      expect(String((await guardedFetch(`${base}/`, PRIVATE)).body)).toBe('direct');
      expect(trapConnections).toBe(0);
    } finally {
      names.forEach((name, index) => {
        const value = before[index];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    }
  });
});

describe('limits', () => {
  const failing = async (path: string, request: Partial<OutgoingRequest> = {}) =>
    (await failureOf(guardedFetch(`${base}${path}`, { ...PRIVATE, ...request }))) as OutgoingFailed;

  test('a body of exactly the limit passes, one byte more does not', async () => {
    routes.set('/exact', (_req, res) => res.end(Buffer.alloc(1_000)));
    routes.set('/over', (_req, res) => res.end(Buffer.alloc(1_001)));
    routes.set('/chunked', (_req, res) => {
      res.write(Buffer.alloc(600));
      res.end(Buffer.alloc(401));
    });
    expect((await guardedFetch(`${base}/exact`, { ...PRIVATE, maxBytes: 1_000 })).body).toHaveLength(1_000);
    expect((await failing('/over', { maxBytes: 1_000 })).reason).toBe('too_large');
    expect((await failing('/chunked', { maxBytes: 1_000 })).reason).toBe('too_large');
  });

  test('an endless body is cut off at the limit and the server sees the connection close', async () => {
    const closed = Promise.withResolvers<number>();
    routes.set('/endless', (_req, res) => {
      let sent = 0;
      const more = () => {
        while (res.write(Buffer.alloc(16_384))) sent += 16_384;
      };
      res.on('drain', more).on('close', () => closed.resolve(sent));
      more();
    });
    expect((await failing('/endless')).reason).toBe('too_large');
    expect(await closed.promise).toBeLessThan(50_000_000);
  });

  test('a gzip bomb is stopped while inflating', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(PRIVATE.maxBytes);
    routes.set('/', (_req, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    expect((await failing('/')).reason).toBe('too_large');
  });

  test('layers of compression, unknown ones and broken ones are failures', async () => {
    for (const encoding of ['gzip, gzip', 'compress', 'gzip']) {
      routes.set('/', (_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end('not compressed'));
      expect((await failing('/')).reason).toBe('protocol');
    }
  });

  test('a server that is silent, before or after its headers, runs into the time limit', async () => {
    routes.set('/silent', () => undefined);
    routes.set('/stuck', (_req, res) => {
      res.writeHead(200);
      res.write('start');
    });
    for (const path of ['/silent', '/stuck']) {
      const error = await failing(path, { timeoutMs: 80 });
      expect(error).toMatchObject({ name: 'OutgoingFailed', reason: 'timeout' });
    }
  });

  test('the time limit covers all redirects together', async () => {
    routes.set('/loop', (_req, res) => setTimeout(() => res.writeHead(302, { location: '/loop' }).end(), 40));
    expect((await failing('/loop', { timeoutMs: 100, maxRedirects: 1_000 })).reason).toBe('timeout');
  });

  test('the time limit covers a resolver that never answers', async () => {
    const { guardedFetch } = createOutgoingClient({ lookup: () => new Promise(() => undefined) });
    const error = await failureOf(guardedFetch('http://slow.example.com/', { ...LIMITS, timeoutMs: 50 }));
    expect(error).toMatchObject({ reason: 'timeout' });
  });

  test("the caller's signal ends the call with its own reason", async () => {
    const stop = new AbortController();
    const reason = new Error('enough');
    routes.set('/silent', () => stop.abort(reason));
    expect(await failureOf(guardedFetch(`${base}/silent`, { ...PRIVATE, signal: stop.signal }))).toBe(reason);
    expect(await failureOf(guardedFetch(`${base}/silent`, { ...PRIVATE, signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    );
  });
});

describe('failures in words', () => {
  test('a refused connection, a cut response, a broken one and an unknown name have different errors, without an address', async () => {
    const gone = net.createServer();
    gone.listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    await new Promise((done) => gone.close(done));
    const client = createOutgoingClient({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    const refused = await failureOf(client.guardedFetch(`http://down.example.com:${port}/`, PRIVATE));
    expect(refused).toMatchObject({ reason: 'connect', message: `down.example.com:${port} refused the connection.` });

    routes.set('/cut', (_req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('some', () => res.destroy());
    });
    expect(await failureOf(guardedFetch(`${base}/cut`, PRIVATE))).toMatchObject({ reason: 'connect' });

    routes.set('/broken', (req) => req.socket.end('this is not HTTP\r\n\r\n'));
    expect(await failureOf(guardedFetch(`${base}/broken`, PRIVATE))).toMatchObject({ reason: 'protocol' });

    const unknown = await failureOf(clientFor({}).guardedFetch('http://absent.example.com/', LIMITS));
    expect(unknown).toMatchObject({
      reason: 'dns',
      message: 'The host name absent.example.com could not be resolved.',
    });
  });

  test('plain HTTP where TLS was expected is a TLS failure', async () => {
    expect(await failureOf(guardedFetch(`https://127.0.0.1:${serverPort}/`, PRIVATE))).toMatchObject({ reason: 'tls' });
  });

  test('methods and headers that HTTP does not have are reported, not sent', async () => {
    expect(await failureOf(guardedFetch(`${base}/`, { ...PRIVATE, method: 'CONNECT' }))).toBeInstanceOf(
      OutgoingRefused,
    );
    const split = guardedFetch(`${base}/`, { ...PRIVATE, headers: { 'x-a': 'b\r\nhost: evil' } });
    expect(await failureOf(split)).toMatchObject({ reason: 'protocol' });
  });
});
