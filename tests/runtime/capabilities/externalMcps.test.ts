import { makeToolset } from '../../../runtime/agent/toolset.ts';
import { externalMcpsCapability } from '../../../runtime/capabilities/externalMcps.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startEverything, startMcpServer, type TestMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { type Answer, startRawMcp } from '../../support/servers/mcpHostile.ts';
import { readMcp, registerMcp } from '../../support/tools/mcpApi.ts';
import { toolsFrom } from '../../support/turns/agentScope.ts';
import { linkedScope, runNamed } from './linked.ts';

const certificate = useCertificate();
const servers: { close(): Promise<void> }[] = [];
let app: TestApp;
let server: TestMcpServer;
beforeAll(async () => {
  app = await startTestApp({ allowPrivateNetwork: true });
  server = await startMcpServer(certificate, { tools: { echo: 'Says it again', fail: undefined } });
});
afterEach(() => Promise.all(servers.splice(0).map((each) => each.close())));
afterAll(async () => {
  await app.close();
  await server.close();
});

async function raw(answer: Answer): Promise<{ url: string; close(): Promise<void> }> {
  const started = await startRawMcp(certificate, answer);
  servers.push(started);
  return { ...started, url: `${started.origin}/mcp` };
}

/** The tools of an agent that is linked to one new server. */
async function toolsOf(fields: Parameters<typeof registerMcp>[1], link: object = {}) {
  const mcp = await registerMcp(app, fields);
  const scope = await linkedScope(app, [['external_mcp', mcp.publicId]]);
  const externalMcps = scope.resources.externalMcps.map((linked) => ({ ...linked, ...link }));
  return {
    mcp,
    tools: toolsFrom(externalMcpsCapability, { ...scope, resources: { ...scope.resources, externalMcps } }),
  };
}

test('the tools are those of the last discovery, and no server gets a request before a call', async () => {
  const mcp = await registerMcp(app, { url: server.url, name: 'Repeater' });
  const asked = server.seen.length;
  const scope = await linkedScope(app, [['external_mcp', mcp.publicId]]);
  const tools = toolsFrom(externalMcpsCapability, scope);
  expect(tools).toMatchObject([
    {
      name: 'echo',
      owner: 'Repeater',
      description: 'Says it again',
      requiresApproval: false,
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      origin: { kind: 'external_mcp', id: mcp.publicId, toolName: 'echo' },
    },
    { name: 'fail', description: 'The tool “fail” of the server “Repeater”.' },
  ]);
  expect(toolsFrom(externalMcpsCapability, scope)[0]?.inputSchema).toBe(tools[0]?.inputSchema);
  expect(server.seen).toHaveLength(asked);
});

test('disabled tools are left out, and the approval of the link holds for all tools', async () => {
  const { publicId } = await registerMcp(app, { url: server.url });
  const tools = [
    { id: 'a', name: 'on', description: null, enabled: true },
    { id: 'b', name: 'off', description: null, enabled: false },
  ];
  await app.workspace.db
    .updateTable('external_mcps')
    .set({ tools: JSON.stringify(tools) })
    .where('id', '=', publicId)
    .execute();
  const scope = await linkedScope(app, [['external_mcp', publicId]]);
  const externalMcps = scope.resources.externalMcps.map((linked) => ({ ...linked, requiresApproval: true }));
  const found = toolsFrom(externalMcpsCapability, { ...scope, resources: { ...scope.resources, externalMcps } });
  expect(found.map(({ name, requiresApproval }) => [name, requiresApproval])).toEqual([['on', true]]);
});

test.each(['STATIC', 'DYNAMIC'] as const)('a %s call returns the output of the tool', async (instanceMode) => {
  const { tools } = await toolsOf({ url: server.url }, { instanceMode });
  const begun = server.begun;
  expect(await runNamed(tools, 'echo', { text: 'hello' })).toEqual({ text: 'echo: hello', isError: false });
  expect(await runNamed(tools, 'echo', { text: 'again' })).toEqual({ text: 'echo: again', isError: false });
  expect(server.begun - begun).toBe(instanceMode === 'STATIC' ? 1 : 2);
});

test('a tool that fails, and inputs that it refuses, are errors for the model', async () => {
  const { tools } = await toolsOf({ url: server.url });
  expect(await runNamed(tools, 'fail', { text: 'this' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('cannot do this'),
  });
  expect(await runNamed(tools, 'echo', { text: 7 })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/text/),
  });
});

test('a structured result without text is JSON, and an empty one says so', async () => {
  const { url } = await raw(({ method, params, result }) => {
    if (method !== 'tools/call') return false;
    result(Object(params.arguments).empty ? { content: [] } : { content: [], structuredContent: { total: 3 } });
  });
  const { tools } = await toolsOf({ url });
  expect(await runNamed(tools, 'echo', {})).toEqual({ text: '{"total":3}', isError: false });
  expect(await runNamed(tools, 'echo', { empty: true })).toEqual({
    text: 'Done. The answer is empty.',
    isError: false,
  });
});

test('a server that cannot be reached fails the call with a reason', async () => {
  const gone = await raw(() => false);
  const { tools, mcp } = await toolsOf({ url: gone.url });
  await gone.close();
  const { text, isError } = await runNamed(tools, 'echo', { text: 'x' });
  expect([isError, text]).toEqual([true, expect.stringContaining(`The server “${mcp.name}” could not be used: `)]);
});

test('the signal ends a call that gets no answer, with its own reason', async () => {
  const asked = Promise.withResolvers<void>();
  const { url } = await raw(({ method }) => {
    if (method !== 'tools/call') return false;
    asked.resolve();
  });
  const { tools } = await toolsOf({ url });
  const controller = new AbortController();
  const running = runNamed(tools, 'echo', {}, controller.signal);
  await asked.promise;
  const reason = new Error('over');
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
});

describe('the credential', () => {
  const echoing: Answer = ({ req, method, params, result }) => {
    if (method !== 'tools/call') return false;
    const text = `got ${JSON.stringify(req.headers)}`;
    result({ content: [{ type: 'text', text }], isError: Object(params.arguments).fail === true });
  };

  test.each([
    [{ authType: 'BEARER_TOKEN', authValue: 'tok_live_88Zx' }, 'authorization', 'Bearer tok_live_88Zx'],
    [{ authType: 'API_KEY', authValue: 'tok_live_88Zx' }, 'x-api-key', 'tok_live_88Zx'],
    [{ authType: 'CUSTOM_HEADER', authHeaders: [{ name: 'X-One', value: 'tok_live_88Zx' }] }, 'x-one', 'tok_live_88Zx'],
  ] as const)('of %j is sent, and hidden where the server gives it back', async (fields, header, value) => {
    let sent: unknown;
    const { url } = await raw((asked) => {
      sent = asked.req.headers[header];
      return echoing(asked);
    });
    const { tools } = await toolsOf({ url, ...fields } as never);
    for (const fail of [false, true]) {
      const { text, isError } = await runNamed(tools, 'echo', { fail });
      expect([sent, isError]).toEqual([value, fail]);
      expect(text).toContain('********');
      expect(text).not.toContain('tok_live_88Zx');
    }
  });

  test('that cannot be read any more fails the call with a reason', async () => {
    const { mcp } = await toolsOf({ url: server.url, authType: 'API_KEY', authValue: 'tok_live_88Zx' });
    await app.workspace.db
      .updateTable('external_mcps')
      .set({ credential: Buffer.from('damaged') })
      .where('id', '=', mcp.publicId)
      .execute();
    const tools = toolsFrom(externalMcpsCapability, await linkedScope(app, [['external_mcp', mcp.publicId]]));
    expect(await runNamed(tools, 'echo', { text: 'x' })).toEqual({
      text: `The credential of the server “${mcp.name}” cannot be read any more.`,
      isError: true,
    });
  });
});

test('the reference server’s tools can be called as they are', async () => {
  const everything = await startEverything(certificate, 'streamableHttp');
  servers.push(everything);
  const { tools } = await toolsOf({ url: everything.url });
  const { definitions } = makeToolset(tools);
  expect(definitions.length).toBeGreaterThan(5);
  const sum = definitions.find(({ name }) => /sum|add/.test(name));
  expect(await runNamed(tools, String(sum?.name), { a: 2, b: 3 })).toMatchObject({
    isError: false,
    text: expect.stringContaining('5'),
  });
});

test('the resources of a server are found and read by two tools more, which the API lists as tools', async () => {
  const everything = await startEverything(certificate, 'streamableHttp');
  servers.push(everything);
  const { tools, mcp } = await toolsOf({ url: everything.url });
  const [shown] = (await readMcp(app, mcp.publicId)).tools.filter(({ name }) => name === 'read_resource');
  expect(Object.keys(shown ?? {}).sort()).toEqual(['description', 'enabled', 'id', 'name']);
  const listed = await runNamed(tools, 'list_resources', {});
  const uri = /^\S+:\/\/\S+/m.exec('text' in listed ? listed.text : '')?.[0] ?? '';
  expect(await runNamed(tools, 'read_resource', { uri })).toMatchObject({ isError: false });
  expect(await runNamed(tools, 'read_resource', { uri: 'demo://nothing' })).toMatchObject({ isError: true });
});
