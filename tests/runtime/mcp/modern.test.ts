import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool } from '../../../runtime/mcp/pool.ts';
import { type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, startRawMcp, tool } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
const pool = new McpPool({ allowPrivateNetwork: true });
let server: TlsServer;
afterEach(() => server.close());
afterAll(() => pool.close());

/** A server without sessions, which writes its answers by hand. */
async function start(answer: Answer, capabilities: object = { tools: {} }): Promise<void> {
  server = await startRawMcp(certificate, (call) =>
    call.method === 'server/discover'
      ? call.result({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities })
      : answer(call),
  );
}
const url = () => `${server.origin}/mcp`;
const discover = () => discoverTools({ url: url(), headers: {}, allowPrivateNetwork: true, workspaceId: null });
const target = () => ({ workspaceId: 'w', id: server.origin, configVersion: 1, url: url(), headers: {} });
const calling = (more: object = {}) => ({ instanceMode: 'STATIC' as const, tool: 't', arguments: {}, ...more });

test('results with kinds of content to come, tools with mistakes and lists without a time are read all the same', async () => {
  const content = [
    { type: 'hologram', mimeType: 'model/x' },
    { type: 'text', text: 'seen' },
    { type: 'resource_link' },
  ];
  await start(
    ({ method, result }) => {
      switch (method) {
        case 'tools/list':
          return result({ tools: [tool('t', { icons: 'none', outputSchema: 7, annotations: [] })] });
        case 'resources/list':
          return result({ resources: [{ name: 'no uri' }] });
        case 'resources/read':
          return result({ resultType: 'complete', contents: [{ text: 'of no address' }] });
        default:
          return result({ content, structuredContent: [1, 2] });
      }
    },
    { tools: {}, resources: {} },
  );
  expect((await discover()).tools.map(({ name }) => name)).toEqual(['t', 'list_resources', 'read_resource']);
  expect((await pool.call(target(), calling())).text).toBe('[hologram model/x]\nseen\n[resource without a name: ]');
  expect((await pool.call(target(), calling({ resources: 'read', arguments: { uri: 'a:b' } }))).text).toBe(
    'of no address',
  );
});

test('a result that says that it is of another kind is not MCP', async () => {
  await start(({ result }) => result({ resultType: 'task', content: [] }));
  await expect(pool.call(target(), calling())).rejects.toThrow('not valid MCP');
});
