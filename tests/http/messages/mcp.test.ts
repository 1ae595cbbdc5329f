import { publish } from '../../support/agents/agents.ts';
import { agentWith, link, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { startMcpServer, type TestMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { imageContent, PIXEL } from '../../support/servers/mcpContent.ts';
import { startRawMcp } from '../../support/servers/mcpHostile.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { registerMcp } from '../../support/tools/mcpApi.ts';
import { connectBuiltin } from '../../support/tools/toolkits.ts';
import { lastResult, resultsOf, toolCall, toolNames, toolOf, WIRES } from '../../support/turns/exchanges.ts';
import { draftAgent, GPT, send } from './turns.ts';

const certificate = useCertificate();
const TOOLS = { echo: 'Says it again', fail: 'Never works' };
let server: ModelServer;
let app: TestApp;
let mcp: TestMcpServer;

beforeAll(async () => {
  server = await startModelServer();
  mcp = await startMcpServer(certificate, { tools: TOOLS });
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await mcp.close();
  await server.close();
});

/** An agent that is linked to newly registered servers, each link with the fields `change`. */
async function agentOn(changes: readonly object[], aiModelPublicId = GPT): Promise<string> {
  const links = [];
  for (const change of changes) {
    const { publicId: id } = await registerMcp(app, { url: mcp.url });
    links.push({ kind: 'external_mcp' as const, id, change });
  }
  return agentWith(app, links, { aiModelPublicId });
}
const echo = (text: string, id = `call_${text}`) => toolCall('echo', { text }, id);
const say = (agentId: string, content = 'Go.', more: object = {}) =>
  send(app, agentId, { content, ...more }).expect(200);

describe.each(WIRES)('%s', (_wire, model) => {
  test('the model gets the descriptions of an external server’s tools, calls them, and gets the results', async () => {
    const agentId = await agentOn([{}], model);
    server.script({ reply: '', toolCalls: [echo('Oslo'), toolCall('fail', { text: 'it' })] }, { reply: 'Done.' });
    const { body } = await say(agentId);
    expect(toolOf(server.requests[0], 'echo')).toMatchObject({
      description: 'Says it again',
      schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    });
    expect(resultsOf(server.requests[1])).toEqual([
      { id: 'call_Oslo', text: 'echo: Oslo', isError: false },
      { id: 'call_fail', text: 'cannot do it', isError: true },
    ]);
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Done.' }]);
    const steps = await stepsOf(app, body.conversationId);
    expect(steps.map(({ name, status }) => [name, status]).slice(1, 3)).toEqual([
      ['echo', 'done'],
      ['fail', 'failed'],
    ]);
  });

  test('the model can call tools of built-in toolkits', async () => {
    const [time, calculator] = [await builtin('time'), await builtin('calculator')];
    const links = [time, calculator].map((id) => ({ kind: 'native_mcp' as const, id }));
    const agentId = await agentWith(app, links, { aiModelPublicId: model });
    server.script(
      { reply: '', toolCalls: [toolCall('calculate', { expression: '6 * 7' }), toolCall('current_time', {})] },
      { reply: '42.' },
    );
    await say(agentId);
    const [product, now] = resultsOf(server.requests[1]);
    expect(product).toMatchObject({ text: expect.stringContaining('42'), isError: false });
    expect(now?.text).toContain(app.clock.now().toISOString().slice(0, 16));
  });
});

const connections = new Map<string, Promise<string>>();
/** A workspace can have one connection to each built-in toolkit. */
function builtin(toolkit: string): Promise<string> {
  const made = connections.get(toolkit) ?? connectBuiltin(app.workspace, toolkit);
  connections.set(toolkit, made);
  return made;
}

describe('instance mode', () => {
  test.each([
    ['STATIC', 1],
    ['DYNAMIC', 3],
  ])('of an external server, %s: three calls in two turns take %i sessions', async (instanceMode, sessions) => {
    const agentId = await agentOn([{ instanceMode }]);
    const before = mcp.begun;
    server.script({ reply: '', toolCalls: [echo('a'), echo('b')] }, { reply: 'Both.' });
    const { body } = await say(agentId);
    server.script({ reply: '', toolCalls: [echo('c')] });
    await say(agentId, 'Again.', { conversationId: body.conversationId });
    expect(lastResult(server.requests[3]).text).toBe('echo: c');
    expect(mcp.begun - before).toBe(sessions);
  });

  test('of a toolkit, DYNAMIC: its tools are found and called on demand', async () => {
    const id = await builtin('calculator');
    const agentId = await draftAgent(app, { aiModelPublicId: GPT });
    await link(app, agentId, 'native_mcp', id);
    const change = { instanceMode: 'DYNAMIC' };
    await app.api('patch', `/agents/${agentId}/native-mcps/${id}/instance-mode`).send(change).expect(200);
    await publish(app, agentId);
    await say(agentId);
    const [find = '', call = ''] = toolNames(server.requests[0]);
    expect([find, call]).toEqual([expect.stringMatching(/__find_tools$/), expect.stringMatching(/__call_tool$/)]);
    server.script(
      { reply: '', toolCalls: [toolCall(find, { search: 'calculate' })] },
      { reply: '', toolCalls: [toolCall(call, { tool: 'calculate', arguments: { expression: '6 * 7' } })] },
    );
    await say(agentId);
    expect(lastResult(server.requests[2]).text).toContain('"calculate"');
    expect(lastResult(server.requests[3])).toMatchObject({ text: expect.stringContaining('42'), isError: false });
  });
});

test('a link that requires approval pauses the turn before the call, and the decision resumes it', async () => {
  const agentId = await agentOn([{ requiresApproval: true }]);
  const calls = () => mcp.seen.length;
  server.script({ reply: 'May I?', toolCalls: [echo('Oslo')] });
  const before = calls();
  const { body } = await say(agentId);
  expect(body.pendingApprovals).toMatchObject([{ toolName: 'echo', input: { text: 'Oslo' } }]);
  expect(calls()).toBe(before);
  const { conversationId } = body;
  server.script({ reply: 'It said Oslo.' });
  const { body: end } = await say(agentId, 'approve', { conversationId });
  expect(calls()).toBeGreaterThan(before);
  expect(lastResult(server.requests[1])).toEqual({ text: 'echo: Oslo', isError: false });
  expect(end).toMatchObject({ pendingApprovals: [], messages: [{ content: 'It said Oslo.' }] });
});

test('when two servers have a tool of the same name, the model can call both by different names', async () => {
  const second = await startMcpServer(certificate, { tools: { echo: 'Of the second' } });
  const one = await registerMcp(app, { url: mcp.url, name: 'First desk' });
  const two = await registerMcp(app, { url: second.url, name: 'Second desk' });
  const links = [one, two].map(({ publicId: id }) => ({ kind: 'external_mcp' as const, id }));
  const agentId = await agentWith(app, links, { aiModelPublicId: GPT });
  await say(agentId);
  expect(toolNames(server.requests[0])).toEqual(['First_desk__echo', 'fail', 'Second_desk__echo']);
  expect(toolOf(server.requests[0], 'Second_desk__echo').description).toBe('Of the second');
  for (const [name, called, other] of [
    ['First_desk__echo', mcp, second],
    ['Second_desk__echo', second, mcp],
  ] as const) {
    const before = [called.seen.length, other.seen.length] as const;
    server.reset();
    server.script({ reply: '', toolCalls: [toolCall(name, { text: 'hi' })] });
    await say(agentId);
    expect(lastResult(server.requests[1])).toEqual({ text: 'echo: hi', isError: false });
    expect(called.seen.length).toBeGreaterThan(before[0]);
    expect(other.seen).toHaveLength(before[1]);
  }
  await second.close();
});

test('the model learns which server cannot be reached, and everything else works', async () => {
  const down = await startMcpServer(certificate, { tools: { other: 'Is down' } });
  const { publicId } = await registerMcp(app, { url: down.url, name: 'Down' });
  const up = await registerMcp(app, { url: mcp.url });
  const links = [publicId, up.publicId].map((id) => ({ kind: 'external_mcp' as const, id }));
  const agentId = await agentWith(app, links, { aiModelPublicId: GPT });
  await down.close();
  server.script({ reply: '', toolCalls: [toolCall('other', { text: 'x' }), echo('Oslo')] }, { reply: 'One is down.' });
  const { body } = await say(agentId);
  expect(resultsOf(server.requests[1])).toEqual([
    { id: 'call_other', text: expect.stringContaining('The server “Down” could not be used: '), isError: true },
    { id: 'call_Oslo', text: 'echo: Oslo', isError: false },
  ]);
  expect(body.messages[0].content).toBe('One is down.');
});

test('the credential is sent to the server and nowhere else', async () => {
  const secret = 'mcp-secret-0123456789';
  const guarded = await startMcpServer(certificate, {
    authorize: ({ authorization }) => authorization === `Bearer ${secret}`,
  });
  const fields = { url: guarded.url, authType: 'BEARER_TOKEN' as const, authValue: secret };
  const { publicId: id } = await registerMcp(app, fields);
  const agentId = await agentWith(app, [{ kind: 'external_mcp', id }], { aiModelPublicId: GPT });
  server.script({ reply: '', toolCalls: [echo(secret, 'c1')] });
  const { body } = await say(agentId);
  expect(lastResult(server.requests[1])).toEqual({ text: 'echo: ********', isError: false });
  const steps = await stepsOf(app, body.conversationId);
  expect(JSON.stringify(steps.map(({ output }) => output))).not.toContain(`echo: ${secret}`);
  expect(JSON.stringify(server.requests[0]?.body)).not.toContain(secret);
  await guarded.close();
});

test('a server that was deleted or whose link is inactive offers no tools', async () => {
  const [off, gone] = [await registerMcp(app, { url: mcp.url }), await registerMcp(app, { url: mcp.url })];
  const agentId = await agentWith(
    app,
    [
      { kind: 'external_mcp', id: off.publicId, change: { active: false } },
      { kind: 'external_mcp', id: gone.publicId },
    ],
    { aiModelPublicId: GPT },
  );
  await say(agentId);
  expect(toolNames(server.requests[0])).toEqual(['echo', 'fail']);
  await app.api('delete', `/external-mcps/${gone.publicId}`).expect(204);
  await say(agentId);
  expect(toolNames(server.requests[1])).toEqual([]);
});

test('an image of a tool reaches the model in its turn, and is neither stored nor shown in later turns', async () => {
  const drawing = await startRawMcp(certificate, ({ method, result }) =>
    method === 'tools/call' ? result({ content: [imageContent()] }) : false,
  );
  const { publicId: id } = await registerMcp(app, { url: `${drawing.origin}/mcp` });
  const agentId = await agentWith(app, [{ kind: 'external_mcp', id }], { aiModelPublicId: GPT });
  const base64 = PIXEL.toString('base64');
  const sees = (at: number) => JSON.stringify(server.requests[at]?.body).includes(base64);
  server.script({ reply: '', toolCalls: [echo('a')] }, { reply: '', toolCalls: [echo('b')] }, { reply: 'A pixel.' });
  const { body } = await say(agentId);
  expect([sees(0), sees(1), sees(2)]).toEqual([false, true, true]);
  const { conversationId } = body;
  const stored = JSON.stringify([await stepsOf(app, conversationId), await turnsOf(app, conversationId)]);
  expect(stored).toContain('[image 1: image/png, 1 kB]');
  expect(stored).toContain('were not kept');
  expect(stored).not.toContain(base64);
  await say(agentId, 'And now?', { conversationId });
  expect(sees(3)).toBe(false);
  expect(JSON.stringify(server.requests[3]?.body)).toContain('The images of this result were not kept.');
  await drawing.close();
});

test('a run that waits for an approval goes on without the images from before', async () => {
  const drawing = await startRawMcp(certificate, ({ method, result }) =>
    method === 'tools/call' ? result({ content: [imageContent()] }) : false,
  );
  const { publicId: id } = await registerMcp(app, { url: `${drawing.origin}/mcp`, name: 'Drawing' });
  const { publicId: asking } = await registerMcp(app, { url: mcp.url, name: 'Asking' });
  const links = [
    { kind: 'external_mcp' as const, id },
    { kind: 'external_mcp' as const, id: asking, change: { requiresApproval: true } },
  ];
  const agentId = await agentWith(app, links, { aiModelPublicId: GPT });
  server.script({ reply: '', toolCalls: [toolCall('Drawing__echo', {}), toolCall('fail', { text: 'it' })] });
  const { conversationId } = (await say(agentId)).body;
  await say(agentId, 'approve', { conversationId });
  const [drawn] = resultsOf(server.requests[1]);
  expect(drawn?.text).toMatch(/^\[image 1: image\/png, 1 kB\]\n\[The images of this result were not kept/);
  await drawing.close();
});
