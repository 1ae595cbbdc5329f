import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import supertest from 'supertest';
import { parse, stringify } from 'yaml';
import { type AppParts, createApp } from '../../server/app.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { threadCpuMs } from '../support/processorTime.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

type Served = { servers: { url: string; variables: { origin: { default: string } } }[] };

const document: Served = JSON.parse(readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'));

/** The bundle with the address of the test's service. */
function served(): Served {
  const copy = structuredClone(document);
  for (const { variables } of copy.servers) variables.origin.default = app.origin;
  return copy;
}

interface RawAnswer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A request whose body stays as it was sent: other clients unpack it. */
async function fetchRaw(path: string, encoding: string, options: RequestOptions = {}): Promise<RawAnswer> {
  const headers = { ...options.headers, 'Accept-Encoding': encoding };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(new URL(path, app.origin), { ...options, headers }, resolve)
      .on('error', reject)
      .end();
  });
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) };
}

/** The value of a metric's series, 0 when it has not been seen. */
async function metric(series: string): Promise<number> {
  const { text } = await app.raw.get('/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

describe('/livez and /readyz', () => {
  test('both say yes while the service takes requests', async () => {
    for (const path of ['/livez', '/readyz']) {
      const answer = await app.raw.get(path);
      expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
    }
  });

  test('a service that drains is alive and not ready', async () => {
    app.service.setReady(false);
    const [live, ready] = await Promise.all([app.raw.get('/livez'), app.raw.get('/readyz')]);
    app.service.setReady(true);
    expect([live.status, ready.status, ready.body.status]).toEqual([200, 503, 'unavailable']);
    expect((await app.raw.get('/readyz')).status).toBe(200);
  });
});

describe('/metrics', () => {
  test('counts requests by operation and status, in the text format of Prometheus', async () => {
    const series = 'guildhall_http_requests_total{operation="getAgent",status="400"}';
    const before = await metric(series);
    await app.api('get', '/agents/nonsense');
    await app.api('get', '/agents/nonsense');
    expect(await metric(series)).toBe(before + 2);
    const answer = await app.raw.get('/metrics');
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(answer.text).toMatch(/^guildhall_http_request_duration_seconds_bucket\{/m);
    expect(answer.text).toMatch(/^process_cpu_seconds_total/m);
  });

  test('paths outside the contract are one series, whatever they are called', async () => {
    const series = 'guildhall_http_requests_total{operation="unmatched",status="404"}';
    const before = await metric(series);
    await app.api('get', '/zebra');
    await app.api('get', '/giraffe');
    expect(await metric(series)).toBe(before + 2);
    expect((await app.raw.get('/metrics')).text).not.toMatch(/zebra|giraffe/);
  });

  test('no request is running when none is', async () => {
    expect(await metric('guildhall_http_requests_running')).toBe(0);
  });

  test('names neither workspaces nor keys', async () => {
    await app.api('get', '/health');
    const { text } = await app.raw.get('/metrics');
    expect(text).not.toContain(app.workspace.workspaceId);
    expect(text).not.toContain(app.workspace.apiKey.slice(0, 10));
  });
});

describe('the document', () => {
  test('as JSON is the bundle with its references, readable from other origins', async () => {
    const answer = await app.raw.get('/openapi.json');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.body).toEqual(served());
    expect(answer.text).toContain('"$ref":"#/components/schemas/Agent"');
  });

  test('as YAML is the same', async () => {
    const answer = await fetchRaw('/openapi.yaml', 'identity');
    expect(answer.headers['content-type']).toMatch(/^application\/yaml/);
    expect(parse(answer.body.toString())).toEqual(served());
  });

  test('says where the API is: a client that knows the document only reaches it', async () => {
    const { openapi, servers }: Served & { openapi: string } = (await app.raw.get('/openapi.json')).body;
    expect(openapi).toMatch(/^3\.1\./);
    expect(servers).toHaveLength(1);
    const base = servers[0]?.url.replace('{origin}', servers[0].variables.origin.default);
    const answer = await fetch(`${base}/health`, { headers: { 'X-Api-Key': app.workspace.apiKey } });
    expect([answer.url, answer.status]).toEqual([`${app.origin}/public/api/v1/health`, 200]);
  });

  test('names the address of the README where no service serves it', () => {
    expect(document.servers.map(({ variables }) => variables.origin.default)).toEqual(['http://127.0.0.1:3000']);
    expect(readFileSync('README.md', 'utf8')).toContain('http://127.0.0.1:3000');
  });

  test('is not for cross-site reading where it is not the document', async () => {
    for (const path of ['/public/api/v1/health', '/metrics', '/livez'])
      expect((await app.raw.get(path)).headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('is rendered in another process: the one that answers requests does not compute for long', async () => {
    const fresh = await startTestApp({ database: app.database });
    const begun = threadCpuMs();
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      const { status } = await fetchRaw(fresh.origin + path, 'br');
      expect(status).toBe(200);
    }
    const answered = threadCpuMs();
    await fresh.close();
    const rendering = threadCpuMs();
    stringify(document, { aliasDuplicateObjects: false });
    // What this machine takes for the YAML alone.
    expect(answered - begun).toBeLessThan((threadCpuMs() - rendering) / 2);
  });
});

describe('compressed bodies', () => {
  /** Each with the most that it may weigh compressed, as a part of its whole. */
  const resources = [
    ['/openapi.json', 0.2],
    ['/openapi.yaml', 0.2],
    ['scalar', 0.3],
  ] as const;

  /** The address of the script of the page, which has a hash in it. */
  async function addressOf(name: string): Promise<string> {
    if (name.startsWith('/')) return name;
    const { text } = await app.raw.get('/docs');
    return /"(\/docs\/scalar\.[0-9a-f]{12}\.js)"/.exec(text)?.[1] ?? 'none';
  }

  test.each(resources)('%s comes in the encoding that the client takes, Brotli first', async (name, part) => {
    const path = await addressOf(name);
    const plain = await fetchRaw(path, 'identity');
    const gzip = await fetchRaw(path, 'gzip;q=1.0, br;q=0');
    const brotli = await fetchRaw(path, 'gzip, deflate, br, zstd');
    expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
    for (const { status, headers } of [plain, gzip, brotli])
      expect([status, headers.vary]).toEqual([200, expect.stringMatching(/accept-encoding/i)]);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(gzip.body.length).toBeLessThan(plain.body.length * part);
    expect(brotli.body.length).toBeLessThan(gzip.body.length);
  });

  test.each(resources)('%s answers HEAD with the same headers and no body', async (name) => {
    const path = await addressOf(name);
    for (const encoding of ['identity', 'gzip', 'br']) {
      const answer = await fetchRaw(path, encoding, { method: 'HEAD' });
      expect([answer.status, answer.body.length]).toEqual([200, 0]);
      expect(answer.headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
    }
  });

  test.each(['/openapi.json', '/openapi.yaml', '/docs'])(
    '%s is asked for again, and sent when it is another',
    async (path) => {
      for (const encoding of ['identity', 'gzip', 'br']) {
        const { headers } = await fetchRaw(path, encoding);
        expect(headers['cache-control']).toBe('no-cache');
        const known = await fetchRaw(path, encoding, { headers: { 'If-None-Match': String(headers.etag) } });
        expect([known.status, known.body.length]).toEqual([304, 0]);
        const other = await fetchRaw(path, encoding, { headers: { 'If-None-Match': 'W/"other"' } });
        expect(other.status).toBe(200);
      }
    },
  );
});

describe('/docs', () => {
  test('shows the reference with files of this machine only, which browsers keep', async () => {
    const page = await app.raw.get('/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    const kept = files.filter((file) => /\.[0-9a-f]{12}\./.test(file));
    expect(kept).toHaveLength(3);
    for (const file of files) {
      expect(file).toMatch(/^\/(docs\/|openapi\.yaml$)/);
      const answer = await app.raw.get(file);
      expect([file, answer.status]).toEqual([file, 200]);
      if (kept.includes(file)) expect(answer.headers['cache-control']).toMatch(/max-age=31536000, immutable/);
    }
  });

  test('lets the page load and call this origin only, and run no text as code', async () => {
    const { headers } = await app.raw.get('/docs');
    const policy = new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]),
    );
    expect(policy.get('default-src')).toEqual(["'none'"]);
    expect(policy.get('script-src')).toEqual(["'self'"]);
    expect(policy.get('connect-src')).toEqual(["'self'"]);
    expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
    const sources = [...policy.values()].flat();
    expect(sources.filter((source) => !/^'(self|none|unsafe-inline)'$|^(data|blob):$/.test(source))).toEqual([]);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  test('serves the script that its package has, and the licences of what is built in', async () => {
    const folder = new URL('../../server/pages/docs/scalar/', import.meta.url);
    const { sha256 } = JSON.parse(readFileSync(new URL('source.json', folder), 'utf8')) as { sha256: string };
    const gzip = gunzipSync(readFileSync(new URL('standalone.js.gz', folder)));
    const brotli = brotliDecompressSync(readFileSync(new URL('standalone.js.br', folder)));
    for (const script of [gzip, brotli]) expect(createHash('sha256').update(script).digest('hex')).toBe(sha256);
    const { text, headers } = await app.raw.get('/docs/licenses.txt');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(text).toContain('@scalar/api-reference');
    expect(text).toContain('Permission is hereby granted, free of charge');
  });

  test.each([
    '/docs/scalar/',
    '/docs/scalar/source.json',
    '/docs/scalar.000000000000.js',
    '/docs/start.js',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e/express/package.json',
    '/docs/%00',
    '/docs/%zz',
    '/docs/nothing',
  ])('%s is not there', async (path) => {
    const answer = await app.raw.get(path);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

test('a route that breaks answers INTERNAL_ERROR, and keeps the reason to the log', async () => {
  const logged: string[] = [];
  const broken = createApp({
    telemetry: { registry: { contentType: 'text/plain', metrics: () => Promise.reject(new Error('inner secret')) } },
    logger: pino({}, { write: (line) => void logged.push(line) }),
  } as unknown as AppParts);
  const answer = await supertest(broken).get('/metrics');
  expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
  expect(answer.text).not.toContain('secret');
  expect(logged.join('')).toContain('inner secret');
});

describe('everywhere', () => {
  test.each(['/livez', '/readyz', '/metrics', '/openapi.json', '/docs', '/nowhere', '/public/api/v1/health'])(
    '%s does not say what it runs on',
    async (path) => {
      const { headers } = await app.raw.get(path);
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    },
  );

  test.each(['/livez', '/readyz', '/metrics', '/openapi.json', '/docs'])(
    '%s answers HEAD without a body',
    async (path) => {
      const answer = await app.raw.head(path);
      expect([answer.status, answer.text]).toEqual([200, undefined]);
    },
  );
});
