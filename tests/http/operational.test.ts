import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import supertest from 'supertest';
import { parse } from 'yaml';
import { type AppParts, createApp } from '../../server/app.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';

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
    expect([live.status, ready.status, ready.body]).toEqual([200, 503, { status: 'unavailable' }]);
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
  test('as JSON is the bundle, readable from other origins', async () => {
    const answer = await app.raw.get('/openapi.json');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.body).toEqual(served());
  });

  test('as YAML is the same', async () => {
    const answer = await app.raw
      .get('/openapi.yaml')
      .buffer(true)
      .parse((response, done) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => done(null, Buffer.concat(chunks).toString('utf8')));
      });
    expect(answer.headers['content-type']).toMatch(/^application\/yaml/);
    expect(parse(answer.body as string)).toEqual(served());
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
});

describe('/docs', () => {
  test('shows the reference with files of this machine only', async () => {
    const page = await app.raw.get('/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      expect(file).toMatch(/^\/docs\//);
      const answer = await app.raw.get(file);
      expect([file, answer.status]).toEqual([file, 200]);
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
    }
    expect((await app.raw.get('/docs/start.js')).text).toContain("'/openapi.json'");
  });

  test.each([
    '/docs/assets/',
    '/docs/assets/..%2f..%2fexpress%2fpackage.json',
    '/docs/assets/%2e%2e/express/package.json',
    '/docs/assets/%00',
    '/docs/assets/%zz',
    '/docs/nothing',
  ])('%s is not there', async (path) => {
    const answer = await app.raw.get(path);
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  });
});

test('a route that breaks answers INTERNAL_ERROR, and keeps the reason to the log', async () => {
  const logged: string[] = [];
  const broken = createApp({
    contract: { document: {} },
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
