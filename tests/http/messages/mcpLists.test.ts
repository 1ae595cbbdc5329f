import { agentWith } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { poll, until } from '../../support/poll.ts';
import { type TlsServer, useCertificate } from '../../support/servers/mcp.ts';
import { INITIALIZED, type RawMcpCall, startRawMcp, tool } from '../../support/servers/mcpHostile.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { readMcp, registerMcp } from '../../support/tools/mcpApi.ts';
import { lastResult, toolCall, toolNames, toolOf } from '../../support/turns/exchanges.ts';
import { GPT, send } from './turns.ts';

const certificate = useCertificate();
const clock = new TestClock();
let model: ModelServer;
let app: TestApp;
let server: TlsServer;
/** What the server lists now, and how often it was asked. */
let listed: object[];
let reads: number;
let mcpId: string;
let agentId: string;

beforeAll(async () => {
  model = await startModelServer();
  app = await startTestApp({ models: model.settings(), allowPrivateNetwork: true, clock });
});
beforeEach(() => {
  model.reset();
  listed = [tool('old')];
  reads = 0;
});
afterEach(() => server.close());
afterAll(async () => {
  await app.close();
  await model.close();
});

const CHANGED = { method: 'notifications/tools/list_changed' };
const text = (said: string) => ({ resultType: 'complete', content: [{ type: 'text', text: said }] });

/** A server of one of the eras, and a published agent with its tools. `more` answers first. */
async function start(era: 'modern' | 'legacy', more: (call: RawMcpCall) => unknown, ttlMs = 0): Promise<void> {
  const capabilities = { tools: { listChanged: true } };
  server = await startRawMcp(certificate, (call) => {
    if (more(call) !== false) return undefined;
    const { method, result } = call;
    if (method === 'tools/list') {
      reads += 1;
      return result(
        era === 'modern' ? { ...text(''), tools: listed, ttlMs, cacheScope: 'private' } : { tools: listed },
      );
    }
    if (method === 'server/discover' && era === 'modern')
      return result({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities });
    return method === 'initialize' ? result({ ...INITIALIZED, capabilities }) : false;
  });
  const { publicId } = await registerMcp(app, { url: `${server.origin}/mcp` });
  mcpId = publicId;
  agentId = await agentWith(app, [{ kind: 'external_mcp', id: mcpId }], { aiModelPublicId: GPT });
}

/** A turn in which the model calls these tools, and then answers. */
async function turn(...calls: string[]): Promise<void> {
  if (calls.length > 0)
    model.script({ reply: '', toolCalls: calls.map((name) => toolCall(name, {})) }, { reply: 'Done.' });
  await send(app, agentId, { content: 'Go.' }).expect(200);
}
const stored = async () => (await readMcp(app, mcpId)).tools.map(({ name }) => name);
const storedAre = (...names: string[]) => poll(stored, (found) => found.join() === names.join());

test('a change that a server tells of within a call is read, and the next turn has the new tools', async () => {
  await start('legacy', ({ id, method, stream, res }) => {
    if (method !== 'tools/call') return false;
    listed = [tool('new', { inputSchema: { type: 'object', properties: { city: { type: 'string' } } } })];
    const { say } = stream();
    // However often it says so, the list is read once in half a minute.
    for (let time = 0; time < 200; time += 1) say(CHANGED);
    say({ id, result: text('done') });
    return res.end();
  });
  await turn('old');
  expect(lastResult(model.requests[1]).text).toBe('done');
  // Nothing changes within a turn: what is sent begins alike.
  expect(toolNames(model.requests[1])).toContain('old');
  await storedAre('new');
  await turn();
  expect(toolOf(model.requests[2], 'new')?.schema).toMatchObject({ properties: { city: { type: 'string' } } });
  expect(toolNames(model.requests[2])).not.toContain('old');
  expect(reads).toBe(2);
});

test('a server without sessions is asked to tell of changes, on a stream that ends with the connection', async () => {
  let tell: (() => void) | undefined;
  let ended = false;
  await start('modern', ({ id, method, params, result, stream, res }) => {
    if (method === 'tools/call') return result(text('done'));
    if (method !== 'subscriptions/listen') return false;
    expect(params.notifications).toEqual({ toolsListChanged: true });
    const { say } = stream();
    const on = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
    say({
      method: 'notifications/subscriptions/acknowledged',
      params: { ...on, notifications: { toolsListChanged: true } },
    });
    res.on('close', () => {
      ended = true;
    });
    tell = () => say({ ...CHANGED, params: on });
    return undefined;
  });
  await turn('old');
  await until(() => tell !== undefined);
  listed = [tool('old'), tool('new')];
  tell?.();
  await storedAre('old', 'new');
  app.service.runtime.mcp.forget(app.workspace.workspaceId, mcpId);
  await until(() => ended);
});

test.each([
  [
    'an error',
    (call: RawMcpCall) =>
      call.res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code: -32602, message: 'Unknown tool: old' } })),
  ],
  ['a result', ({ result }: RawMcpCall) => result({ ...text('MCP error -32602: Tool old not found'), isError: true })],
])('a server that does not know a tool any more, and says so by %s, is asked for its tools', async (_how, refuse) => {
  await start('legacy', (call) => (call.method === 'tools/call' ? refuse(call) : false));
  listed = [tool('new')];
  await turn('old');
  expect(lastResult(model.requests[1])).toMatchObject({ isError: true, text: expect.stringContaining('old') });
  await storedAre('new');
});

test('a list is read again when its time is over and an agent uses it, and no sooner', async () => {
  await start('modern', () => false, 10 * 60_000);
  let readAt = clock.now();
  const minutes = async (count: number, expected: number) => {
    const before = reads;
    clock.advance(count * 60_000);
    await turn();
    await until(() => reads === expected);
    readAt = reads > before ? clock.now() : readAt;
    await until(async () => (await readMcp(app, mcpId)).lastDiscoveredAt === readAt.toISOString());
  };
  await minutes(0, 1);
  // How long the list is fresh is known from the first reading of this process on. Before, it is five minutes.
  const revision = await revisionNow();
  await minutes(6, 2);
  await minutes(9, 2);
  listed = [tool('old'), tool('two\nlines')];
  await minutes(2, 3);
  const { db } = app.workspace;
  const row = db.selectFrom('external_mcps').select('tools_left_out').where('id', '=', mcpId);
  expect((await row.executeTakeFirstOrThrow()).tools_left_out?.count).toBe(1);
  // The tools that can be used were the same: turns need not read them anew.
  expect(await revisionNow()).toBe(revision);
});

test('a server that cannot be read keeps its tools', async () => {
  let isGone = false;
  await start('modern', ({ method, res }) =>
    isGone && method === 'tools/list' ? void res.writeHead(503).end() : false,
  );
  await turn();
  isGone = true;
  clock.advance(6 * 60_000);
  const before = server.seen.length;
  await turn();
  await until(() => server.seen.length >= before + 2);
  clock.advance(60_000);
  await turn();
  expect(toolNames(model.requests.at(-1))).toContain('old');
  expect(await readMcp(app, mcpId)).toMatchObject({ status: 'CONNECTED', errorMessage: null });
});

async function revisionNow(): Promise<number> {
  const { db, workspaceId } = app.workspace;
  const query = db.selectFrom('workspace_revisions').select('revision').where('workspace_id', '=', workspaceId);
  return Number((await query.executeTakeFirstOrThrow()).revision);
}
