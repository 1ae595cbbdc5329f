import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool } from '../../../runtime/mcp/pool.ts';
import type { ResourceTool } from '../../../runtime/mcp/resources.ts';
import { startEverything, type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { PIXEL } from '../../support/servers/mcpContent.ts';
import { type Answer, INITIALIZED, startRawMcp, tool } from '../../support/servers/mcpHostile.ts';

const certificate = useCertificate();
const pool = new McpPool({ allowPrivateNetwork: true });
let server: TlsServer;
let asked: Record<string, unknown>[] = [];
afterEach(() => server.close());
afterAll(() => pool.close());

type Pages = Record<string, { resources: unknown[]; nextCursor?: string }>;

/** A server whose resources are listed page by page; '' is the first page. */
async function start(pages: Pages, { templates = [] as unknown[], tools = [tool('echo')], read = {} as object } = {}) {
  asked = [];
  const answer: Answer = ({ method, params, result }) => {
    asked.push({ method, ...params });
    switch (method) {
      case 'initialize':
        return result({ ...INITIALIZED, capabilities: { tools: {}, resources: {} } });
      case 'tools/list':
        return result({ tools });
      case 'resources/list':
        return result(pages[String(params.cursor ?? '')]);
      case 'resources/templates/list':
        return result({ resourceTemplates: templates });
      case 'resources/read':
        return result(read);
      default:
        return false;
    }
  };
  server = await startRawMcp(certificate, answer);
}

const url = () => `${server.origin}/mcp`;
const discovered = async () => {
  const { tools } = await discoverTools({ url: url(), headers: {}, allowPrivateNetwork: true, workspaceId: null });
  return tools.map(({ name, resources }) => [name, resources]);
};
const use = (resources: ResourceTool, args: Record<string, unknown> = {}, address = url()) =>
  pool.call(
    { workspaceId: 'w', id: server.origin, configVersion: 1, url: address, headers: {} },
    { instanceMode: 'DYNAMIC', tool: 'x', resources, arguments: args },
  );
const resource = (at: number) => ({ uri: `file:///r${at}`, name: `R${at}`, mimeType: 'text/plain' });

describe('the tools for resources', () => {
  test.each<[string, Pages, unknown[], boolean]>([
    ['has resources', { '': { resources: [resource(1)] } }, [], true],
    ['has templates only', { '': { resources: [] } }, [{ uriTemplate: 'a://{b}', name: 'b' }], true],
    ['declares resources and has none', { '': { resources: [] } }, [], false],
  ])('are listed for a server that %s, as the last', async (_what, pages, templates, has) => {
    await start(pages, { templates });
    const own = [
      ['list_resources', 'list'],
      ['read_resource', 'read'],
    ];
    expect(await discovered()).toEqual([['echo', undefined], ...(has ? own : [])]);
  });

  test('make way for tools of the server with such a name', async () => {
    await start({ '': { resources: [resource(1)] } }, { tools: [tool('read_resource')] });
    expect(await discovered()).toEqual([
      ['read_resource', undefined],
      ['list_resources', 'list'],
    ]);
  });

  test('are listed although the list of resources is too large to be read at once', async () => {
    await start({ '': { resources: Array.from({ length: 100_000 }, (_, at) => resource(at)) } });
    expect((await discovered()).map(([name]) => name)).toContain('read_resource');
    await expect(use('list')).rejects.toThrow(/more than can be read/);
  });
});

describe('a list', () => {
  test('has a line for each resource and template, and says how to go on', async () => {
    await start(
      {
        '': { resources: [{ ...resource(1), description: 'The\nfirst' }], nextCursor: 'two' },
        two: { resources: [resource(2)] },
      },
      { templates: [{ uriTemplate: 'file:///{name}', name: 'Any' }] },
    );
    expect((await use('list')).text.split('\n')).toEqual([
      'file:///r1 R1 (text/plain, The first)',
      '[There are more: list again with the cursor "two".]',
      'Templates (fill in what is in braces):',
      'file:///{name} Any',
    ]);
    expect((await use('list', { cursor: 'two' })).text).toBe('file:///r2 R2 (text/plain)');
    expect((await use('list', { search: 'R2' })).text).toBe('file:///r2 R2 (text/plain)');
    expect((await use('list', { search: 'nothing' })).text).toBe('There are no such resources.');
  });

  test('is bounded: 200 lines, and ten pages of a search', async () => {
    await start({ '': { resources: Array.from({ length: 5000 }, (_, at) => resource(at)) } });
    const lines = (await use('list')).text.split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([201, '[4800 more are not shown. Search for a part of the name.]']);
    await server.close();
    const pages = Array.from({ length: 20 }, (_, at) => [
      at === 0 ? '' : `p${at}`,
      { resources: [], nextCursor: `p${at + 1}` },
    ]);
    await start(Object.fromEntries(pages));
    await use('list', { search: 'x' });
    expect(asked.filter(({ method }) => method === 'resources/list')).toHaveLength(10);
  });

  test('ends at a cursor that comes again, and gives no cursor that a model could not send whole', async () => {
    await start({ '': { resources: [], nextCursor: 'again' }, again: { resources: [], nextCursor: 'again' } });
    await use('list', { search: 'x' });
    expect(asked.filter(({ method }) => method === 'resources/list')).toHaveLength(2);
    await server.close();
    await start({ '': { resources: [resource(1)], nextCursor: 'c'.repeat(2001) } });
    const { text } = await use('list');
    expect(text).toContain('the cursor that the server gives is too long');
    expect(text).not.toContain('ccc');
  });
});

describe('a resource', () => {
  test('is its text and its images', async () => {
    const contents = [
      { uri: 'file:///a', text: 'one' },
      { uri: 'file:///b', blob: PIXEL.toString('base64'), mimeType: 'image/png' },
    ];
    await start({}, { read: { contents } });
    expect(await use('read', { uri: 'file:///a' })).toMatchObject({
      isError: false,
      text: 'one\n[resource file:///b]\n[image 1: image/png, 1 kB]',
      files: [{ mediaType: 'image/png' }],
    });
    expect(asked.at(-1)).toMatchObject({ method: 'resources/read', uri: 'file:///a' });
  });

  test('that has no contents is not MCP', async () => {
    await start({}, { read: { contents: 'all' } });
    await expect(use('read', { uri: 'a' })).rejects.toThrow('not valid MCP');
  });

  test('of the official reference server is found and read, and one that it does not have is an error', async () => {
    const everything = await startEverything(certificate, 'streamableHttp');
    server = everything;
    const listed = (await use('list', {}, everything.url)).text;
    const uri = /^\S+:\/\/\S+/m.exec(listed)?.[0] ?? '';
    expect((await use('read', { uri }, everything.url)).text.length).toBeGreaterThan(10);
    expect(await use('read', { uri: 'demo://nothing' }, everything.url)).toMatchObject({ isError: true });
  });
});
