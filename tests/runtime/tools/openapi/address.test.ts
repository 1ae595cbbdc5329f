import { importDocument } from '../../../../runtime/tools/openapi/importDocument.ts';
import type { ImportResult } from '../../../../runtime/tools/openapi/importRequest.ts';
import { until } from '../../../support/poll.ts';
import { trustedCertificate } from '../../../support/servers/tls.ts';
import { answering, startToolServer, type ToolServer } from '../../../support/tools/httpTools.ts';

let server: ToolServer;
let certificate: Awaited<ReturnType<typeof trustedCertificate>>;
beforeAll(async () => {
  certificate = await trustedCertificate();
  server = await startToolServer(certificate);
});
afterAll(async () => {
  certificate.forget();
  await server.close();
});

const importFrom = (path: string, allowPrivateNetwork = true, workspaceId = 'a'): Promise<ImportResult> =>
  importDocument({
    openapi: server.origin + path,
    wanted: ['ping'],
    baseUrl: undefined,
    authHeader: undefined,
    allowPrivateNetwork,
    workspaceId,
  });
const DOCUMENT = { openapi: '3.1.0', paths: { '/ping': { get: { operationId: 'ping' } } } };
const messagesOf = ({ faults }: ImportResult) =>
  faults.map(({ field, steps, message }) => [field, ...steps, message].join(' '));

test('JSON is read, and servers are relative to its address', async () => {
  server.on('/v1/openapi.json', answering(JSON.stringify({ ...DOCUMENT, servers: [{ url: '../v2' }] })));
  const { endpoints, faults } = await importFrom('/v1/openapi.json');
  expect(faults).toEqual([]);
  expect(endpoints[0]).toMatchObject({ server: `${server.origin}/v2`, path: '/ping' });
});

test('YAML is read, whatever its Content-Type, with anchors and a byte order mark', async () => {
  const yaml =
    '\uFEFFopenapi: 3.0.0\nx-a: &a {description: Is it there?}\npaths:\n  /ping:\n    get:\n      operationId: ping\n      <<: *a\n';
  server.on('/openapi.yaml', answering(yaml, 'application/octet-stream'));
  expect((await importFrom('/openapi.yaml')).endpoints).toHaveLength(1);
});

test('after a redirect, servers are relative to the last address', async () => {
  server.on('/latest', (_request, response) => void response.writeHead(302, { location: '/v3/openapi.json' }).end());
  server.on('/v3/openapi.json', answering(JSON.stringify({ ...DOCUMENT, servers: [{ url: '.' }] })));
  expect((await importFrom('/latest')).endpoints[0]?.server).toBe(`${server.origin}/v3`);
});

const NO_DOCUMENT = 'openapi must be the address of a JSON or YAML document';

test.each([
  ['a page', '<html>Not found</html>', 'openapi must be an OpenAPI document'],
  [
    'broken JSON',
    '{"openapi": "3.1.0"',
    `${NO_DOCUMENT}: line 1: unexpected end of the stream within a flow collection`,
  ],
  ['broken YAML', 'a: [b\nc: d', `${NO_DOCUMENT}: line 2: deficient indentation`],
  ['nothing', '', 'openapi must be an OpenAPI document'],
])('%s is refused', async (_what, body, message) => {
  server.on('/openapi.json', answering(body));
  expect(messagesOf(await importFrom('/openapi.json'))).toEqual([message]);
});

test('a response other than 200 is refused', async () => {
  server.on('/gone', answering('{}', 'application/json', 404));
  expect(messagesOf(await importFrom('/gone'))).toEqual(['openapi must lead to a document: the server answered 404']);
});

test('a document over 24 MiB is refused', async () => {
  server.on('/large', answering(JSON.stringify({ ...DOCUMENT, 'x-a': 'x'.repeat(24 * 1024 * 1024) })));
  expect(messagesOf(await importFrom('/large'))[0]).toMatch(/larger than 25165824 bytes/);
});

test('a YAML document whose aliases multiply is refused', async () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 12; level += 1) {
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  }
  server.on('/bomb', answering(lines.join('\n')));
  expect(messagesOf(await importFrom('/bomb'))).toEqual(['openapi must not have more than 1500000 values']);
});

test('documents of one workspace that take long do not hold up the document of another', async () => {
  // Seconds of work: the parser is slow with lists.
  const long = `openapi: 3.0.0\npaths: {}\nx:\n${'- a\n'.repeat(1_000_000)}`;
  server.on('/long', answering(long, 'application/yaml'));
  server.on('/openapi.json', answering(JSON.stringify({ ...DOCUMENT, servers: [{ url: '/v1' }] })));
  let unfinished = 6;
  const hostile = Array.from({ length: unfinished }, () =>
    importFrom('/long').finally(() => {
      unfinished -= 1;
    }),
  );
  // Two of one workspace are fetched before one of them is read. The others wait before the other one.
  await until(() => server.received.filter(({ url }) => url === '/long').length >= 2);
  const { endpoints } = await importFrom('/openapi.json', true, 'b');
  expect(endpoints).toHaveLength(1);
  expect(unfinished).toBeGreaterThanOrEqual(2);
  await Promise.all(hostile);
});

test('of a key that a map of YAML has twice the last value counts', async () => {
  server.on(
    '/twice',
    answering('openapi: 3.0.0\nservers: [{url: /v1}]\npaths: {}\npaths: {/ping: {get: {operationId: ping}}}'),
  );
  expect((await importFrom('/twice')).endpoints).toHaveLength(1);
});

test('a document that nests without end is refused', async () => {
  const schema = `${'{"not":'.repeat(10_000)}{}${'}'.repeat(10_000)}`;
  const body = JSON.stringify({
    ...DOCUMENT,
    paths: {
      '/ping': { post: { operationId: 'ping', requestBody: { content: { 'application/json': { schema: 0 } } } } },
    },
  });
  server.on('/deep', answering(body.replace('"schema":0', `"schema":${schema}`)));
  expect(messagesOf(await importFrom('/deep'))).toHaveLength(1);
});

test('a private address is not fetched from unless private networks are allowed', async () => {
  const before = server.received.length;
  expect(messagesOf(await importFrom('/v1/openapi.json', false))[0]).toMatch(/may call/);
  expect(server.received).toHaveLength(before);
});
