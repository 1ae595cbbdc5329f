import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { startTestApp, type TestApp } from '../../support/http/app.ts';

/** The secrets of a tool are in no response, not readable in the database, and never logged, whatever happens. */

const PASSWORD = 'basic-77-very-secret';
const LOGIN = Buffer.from(`mia:${PASSWORD}`).toString('base64');
const TENANT = 'Tenant-5-very-secret';
const SECRETS = [
  'tok-4711-very-secret',
  'pw-0815-very-secret',
  'auth-1234-very-secret',
  'rotated-9-very-secret',
  PASSWORD,
  LOGIN,
  TENANT,
  TENANT.toLowerCase(),
];
let app: TestApp;
let log = '';
const echo = createServer((request, response) => {
  response.writeHead(500, { 'content-type': 'application/json' });
  const { authorization = '' } = request.headers;
  const login = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  response.end(JSON.stringify({ headers: request.headers, url: request.url, login, password: login.split(':')[1] }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void echo.listen(0, '127.0.0.1', resolve));
  const write = (line: string) => {
    log += line;
  };
  const logger = pino({ level: 'trace' }, { write });
  app = await startTestApp({ allowPrivateNetwork: true, logger });
});
afterAll(async () => {
  echo.close();
  await app.close();
});

test('in no response, no log line and no row', async () => {
  const origin = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
  const [token, password, auth, rotated] = SECRETS;
  const document = {
    openapi: '3.1.0',
    info: { title: 'Echo', version: '1' },
    paths: { '/x': { get: { operationId: 'getX', responses: { 200: { description: 'ok' } } } } },
  };
  const bodies = [
    {
      name: 'http',
      toolType: 'HTTP_REQUEST',
      configuration: {
        url: `${origin}/?key={{secret.token}}`,
        headers: { Authorization: 'Bearer {{secret.token}}' },
        secrets: { token },
      },
    },
    {
      name: 'basic',
      toolType: 'HTTP_REQUEST',
      configuration: { url: origin, headers: { Authorization: 'Basic {{secret.login}}' }, secrets: { login: LOGIN } },
    },
    ...[new URL(origin).port, '65534'].map((port) => ({
      name: `tenant_${port}`,
      toolType: 'HTTP_REQUEST',
      configuration: { url: `http://{{secret.tenant}}.localhost:${port}/`, secrets: { tenant: TENANT } },
    })),
    {
      name: 'database',
      toolType: 'DATABASE_QUERY',
      configuration: { connection: `postgres://me:${password}@127.0.0.1:1/none`, query: 'select 1' },
    },
    {
      name: 'integration',
      toolType: 'CUSTOM_INTEGRATION',
      configuration: {
        openapi: document,
        baseUrl: origin,
        operations: ['getX'],
        auth: { type: 'header', headerName: 'X-Token', secret: auth },
      },
    },
  ];
  let seen = '';
  const ask = async (method: 'get' | 'post' | 'patch', path: string, body?: object) => {
    const answer = await app.api(method, path).send(body);
    seen += answer.text + JSON.stringify(answer.headers);
    return answer;
  };
  for (const body of bodies) {
    const { publicId } = (await ask('post', '/http-tools', body)).body;
    expect((await ask('post', `/http-tools/${publicId}/test`, { inputs: {} })).body.success).toBe(false);
    await ask('get', `/http-tools/${publicId}`);
  }
  const http = (await ask('get', '/http-tools')).body.items.find(({ name }: { name: string }) => name === 'http');
  await ask('patch', `/http-tools/${http.publicId}`, {
    configuration: { ...http.configuration, secrets: { token: rotated } },
  });
  await ask('post', `/http-tools/${http.publicId}/test`, { inputs: {} });
  await ask('patch', `/http-tools/${http.publicId}`, {
    configuration: { url: 'nonsense', secrets: { token: rotated } },
  });

  const rows = await app.workspace.db.selectFrom('http_tools').selectAll().execute();
  const stored = rows.map((row) => JSON.stringify(row) + row.secrets?.toString('latin1')).join('\n');
  expect(rows).toHaveLength(6);
  expect(log).toContain('testTool');
  for (const secret of SECRETS) {
    for (const place of [seen, log, stored]) expect(place).not.toContain(secret);
  }
});
