import { mirroredArguments } from '../../../runtime/mcp/argumentHeaders.ts';
import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool } from '../../../runtime/mcp/pool.ts';
import { mainThreadMs } from '../../support/processorTime.ts';
import { type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, INITIALIZED, startRawMcp, tool } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
const pool = new McpPool({ allowPrivateNetwork: true });
let server: TlsServer;
afterEach(() => server.close());
afterAll(() => pool.close());

type Json = Record<string, unknown>;

/** A server without sessions. `list` is asked at each `tools/list`. */
async function start(answer: Answer, list: () => unknown[] = () => []): Promise<void> {
  server = await startRawMcp(certificate, (call) => {
    if (call.method === 'server/discover')
      return call.result({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: 'private',
      });
    if (call.method === 'tools/list') return call.result({ resultType: 'complete', tools: list() });
    return answer(call);
  });
}
const done: Answer = ({ result }) => result({ resultType: 'complete', content: [{ type: 'text', text: 'done' }] });
const schema = (properties: Json): Json => ({ type: 'object', properties });
const named = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });

function call(inputSchema: Json, args: Json) {
  const target = { workspaceId: 'w', id: server.origin, configVersion: 1, url: `${server.origin}/mcp`, headers: {} };
  return pool.call(target, { instanceMode: 'DYNAMIC', tool: 'Größe', inputSchema, arguments: args });
}
const discovered = async () => {
  const at = { url: `${server.origin}/mcp`, headers: {}, allowPrivateNetwork: true, workspaceId: null };
  return discoverTools(at);
};
const lastHeaders = () =>
  Object.fromEntries(Object.entries(server.seen.at(-1)?.headers ?? {}).filter(([name]) => name.startsWith('mcp-')));

test('arguments are repeated in headers as the specification says', async () => {
  await start(done);
  const inputSchema = schema({
    region: named('Region'),
    greeting: named('Greeting'),
    padded: named('Padded'),
    lines: named('Lines'),
    literal: named('Literal'),
    count: named('Count', 'integer'),
    vast: named('Vast', 'integer'),
    dry: named('Dry', 'boolean'),
    none: named('None'),
    absent: named('Absent'),
    deep: { type: 'object', properties: { inner: named('Inner') } },
    method: named('Method'),
    plain: { type: 'string' },
  });
  const args = {
    region: 'us-west1',
    greeting: 'Hello, 世界',
    padded: ' padded ',
    lines: 'line1\nline2',
    literal: '=?base64?literal?=',
    count: -7,
    vast: 2 ** 53,
    dry: false,
    none: null,
    deep: { inner: 'a b' },
    method: 'tools/list',
    plain: 'not sent',
  };
  expect((await call(inputSchema, args)).text).toBe('done');
  // The examples of https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
  expect(lastHeaders()).toEqual({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': `=?base64?${Buffer.from('Größe').toString('base64')}?=`,
    'mcp-param-region': 'us-west1',
    'mcp-param-greeting': '=?base64?SGVsbG8sIOS4lueVjA==?=',
    'mcp-param-padded': '=?base64?IHBhZGRlZCA=?=',
    'mcp-param-lines': '=?base64?bGluZTEKbGluZTI=?=',
    'mcp-param-literal': '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=',
    'mcp-param-count': '-7',
    'mcp-param-dry': 'false',
    'mcp-param-inner': 'a b',
    'mcp-param-method': 'tools/list',
  });
});

test('a server that finds other headers than it wants is asked for its list, and called once more', async () => {
  const calls: unknown[] = [];
  const answer: Answer = (asked) => {
    const region = asked.req.headers['mcp-param-region'];
    calls.push(region);
    if (region === 'eu') return done(asked);
    const error = { code: -32020, message: 'Header mismatch: Mcp-Param-Region is missing' };
    asked.res
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, error }));
  };
  await start(answer, () => [tool('Größe', { inputSchema: schema({ region: named('Region') }) })]);
  expect((await call(schema({ region: { type: 'string' } }), { region: 'eu' })).text).toBe('done');
  expect(calls).toEqual([undefined, 'eu']);
  const refused = await call(schema({}), { region: 'us' });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('Header mismatch')]);
  expect(calls).toHaveLength(4);
});

test('arguments that are too long for a header are not sent, and the model is told', async () => {
  await start(done);
  const { isError, text } = await call(schema({ region: named('Region') }), { region: 'x'.repeat(7_000) });
  expect([isError, text]).toEqual([true, expect.stringContaining('Make them shorter')]);
  expect(server.seen.map(({ headers }) => headers['mcp-method'])).not.toContain('tools/call');
});

const BROKEN: [string, Json][] = [
  ['is on a number', { a: named('A', 'number') }],
  ['is on a list of types', { a: named('A', ['string', 'null']) }],
  ['is empty', { a: named('') }],
  ['would add a header', { a: named('A\r\nAuthorization') }],
  ['has one name twice', { a: named('A'), b: named('a') }],
  ['is within a list', { a: { type: 'array', items: named('A') } }],
  ['is in a choice', { a: { anyOf: [named('A')] } }],
  ['is below a choice', { a: { oneOf: [{ type: 'object', properties: { b: named('A') } }] } }],
];
test('tools whose headers break the rules are left out, the others are found', async () => {
  const listed = [
    tool('good', {
      inputSchema: schema({ a: named('A'), 'x-mcp-header': { type: 'string' }, b: { default: named('') } }),
    }),
    ...BROKEN.map(([name, properties]) => tool(name, { inputSchema: schema(properties) })),
    tool('is on the whole', { inputSchema: { type: 'object', 'x-mcp-header': 'A' } }),
    tool('is in a definition', { inputSchema: { type: 'object', $defs: { a: named('A') } } }),
  ];
  await start(done, () => listed);
  const { tools, rejected } = await discovered();
  expect(tools.map(({ name }) => name)).toEqual(['good']);
  expect(rejected).toHaveLength(BROKEN.length + 2);
});

test('a server with sessions gets no such headers, and its tools are all found', async () => {
  server = await startRawMcp(certificate, ({ method, result, ...rest }) => {
    if (method === 'initialize') return result(INITIALIZED);
    if (method === 'tools/list') return result({ tools: [tool('t', { inputSchema: schema({ a: named('') }) })] });
    return method === 'tools/call' ? done({ method, result, ...rest }) : false;
  });
  expect((await discovered()).tools).toHaveLength(1);
  expect((await call(schema({ a: named('A') }), { a: 'b' })).text).toBe('done');
  expect(server.seen.filter(({ headers }) => headers['mcp-param-a'] !== undefined)).toEqual([]);
});

test('schemas with as many values as a list may have are looked through at once', async () => {
  const nested = (depth: number): Json => (depth > 0 ? { anyOf: [nested(depth - 1)] } : {});
  const large = [nested(0), nested(25)].map((inner, place) =>
    schema(Object.fromEntries(Array.from({ length: place === 0 ? 45_000 : 1_500 }, (_, at) => [`p${at}`, inner]))),
  );
  expect(await mainThreadMs(() => large.map(mirroredArguments))).toBeLessThan(150);
});
