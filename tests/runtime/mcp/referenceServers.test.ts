import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discoverTools } from '../../../runtime/mcp/discover.ts';
import { McpPool } from '../../../runtime/mcp/pool.ts';
import { until } from '../../support/poll.ts';
import { useCertificate } from '../../support/servers/mcp.ts';
import { PIXEL } from '../../support/servers/mcpContent.ts';
import { type BridgedServer, bridgeStdio, type StdioServer } from '../../support/servers/mcpStdioBridge.ts';

/** Reference servers that people bridge to HTTP. The tests of each part of the client use server-everything. */

const certificate = useCertificate();
let folder: string;
let server: BridgedServer | undefined;
let pool: McpPool;

beforeEach(async () => {
  // server-filesystem compares real paths, without symbolic links.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'guildhall-mcp-')));
  pool = new McpPool({ allowPrivateNetwork: true });
});

afterEach(async () => {
  await pool.close();
  await server?.close();
  await rm(folder, { recursive: true });
});

async function start(what: StdioServer): Promise<BridgedServer> {
  server = await bridgeStdio(certificate, what);
  return server;
}

const filesystem = () => start({ package: '@modelcontextprotocol/server-filesystem', args: [folder] });
const memory = () =>
  start({ package: '@modelcontextprotocol/server-memory', env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } });

const discover = ({ url }: BridgedServer) =>
  discoverTools({ url, headers: {}, allowPrivateNetwork: true, workspaceId: null });

function call({ url }: BridgedServer, tool: string, args: Record<string, unknown>, instanceMode?: 'DYNAMIC') {
  const target = { workspaceId: 'w', id: 's', configVersion: 1, url, headers: {} };
  return pool.call(target, { instanceMode: instanceMode ?? 'STATIC', tool, arguments: args });
}

describe('server-filesystem', () => {
  test('its tools are found with their schemas, and its session is ended', async () => {
    const files = await filesystem();
    const { tools } = await discover(files);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['read_text_file', 'read_media_file', 'write_file', 'edit_file', 'search_files']),
    );
    const write = tools.find(({ name }) => name === 'write_file');
    expect(write?.description).toMatch(/^Create a new file/);
    expect(write?.inputSchema).toMatchObject({
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' } },
      required: ['path', 'content'],
    });
    await until(() => files.processes() === 0);
  });

  test('a file is written, read and changed, in one session', async () => {
    const files = await filesystem();
    const path = join(folder, 'notes.txt');
    expect(await call(files, 'write_file', { path, content: 'Grüße\n' })).toMatchObject({ isError: false });
    expect(await readFile(path, 'utf8')).toBe('Grüße\n');
    await call(files, 'edit_file', { path, edits: [{ oldText: 'Grüße', newText: '你好' }] });
    expect((await call(files, 'read_text_file', { path })).text).toContain('你好');
    await until(() => files.processes() === 1);
  });

  test('an image comes with its bytes, and what only has the name of one does not', async () => {
    const files = await filesystem();
    // The server takes the type from the file name's extension.
    await writeFile(join(folder, 'none.png'), Buffer.alloc(68));
    const none = await call(files, 'read_media_file', { path: join(folder, 'none.png') });
    expect(none).toMatchObject({ text: expect.stringContaining('its bytes are not'), files: [] });
    await writeFile(join(folder, 'pixel.jpg'), PIXEL);
    const pixel = await call(files, 'read_media_file', { path: join(folder, 'pixel.jpg') });
    expect(pixel).toMatchObject({ text: expect.stringContaining('[image 1: image/png, 1 kB]') });
    expect(pixel.files).toEqual([{ mediaType: 'image/png', bytes: new Uint8Array(PIXEL) }]);
  });

  test.each([
    ['a file outside of its folder', 'read_text_file', { path: '/etc/passwd' }, /denied/i],
    ['an argument that is missing', 'read_text_file', {}, /path/],
    ['a tool that it does not have', 'format_disk', {}, /format_disk/],
  ])('%s is an error with the explanation of the server', async (_what, tool, args, explained) => {
    const result = await call(await filesystem(), tool, args);
    expect(result).toMatchObject({ isError: true, text: expect.stringMatching(explained) });
  });
});

describe('server-memory', () => {
  const ada = { name: 'Ada', entityType: 'person', observations: ['Likes tea'] };

  test('its tools are found', async () => {
    const { tools } = await discover(await memory());
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['create_entities', 'create_relations', 'add_observations', 'search_nodes', 'read_graph']),
    );
    const create = tools.find(({ name }) => name === 'create_entities');
    expect(create?.inputSchema).toMatchObject({ properties: { entities: { type: 'array' } } });
  });

  test('a call reads what an earlier one stored, as structured content', async () => {
    const graph = await memory();
    await call(graph, 'create_entities', { entities: [ada] });
    await call(graph, 'add_observations', { observations: [{ entityName: 'Ada', contents: ['Lives in London'] }] });
    const { structuredContent } = await call(graph, 'search_nodes', { query: 'London' });
    expect(structuredContent).toEqual({
      entities: [{ ...ada, observations: ['Likes tea', 'Lives in London'] }],
      relations: [],
    });
    await until(() => graph.processes() === 1);
  });

  test('each DYNAMIC call has its own session, which ends with the call', async () => {
    const graph = await memory();
    await call(graph, 'create_entities', { entities: [ada] }, 'DYNAMIC');
    await until(() => graph.processes() === 0);
    expect((await call(graph, 'read_graph', {}, 'DYNAMIC')).structuredContent).toMatchObject({ entities: [ada] });
    await until(() => graph.processes() === 0);
  });
});
