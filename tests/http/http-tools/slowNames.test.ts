import { agentWith } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { NameServer } from '../../support/servers/nameServer.ts';
import { makeTool, startToolServer, type ToolServer, tryTool } from '../../support/tools/httpTools.ts';
import { connectBuiltin } from '../../support/tools/toolkits.ts';
import { resultsOf, toolCall } from '../../support/turns/exchanges.ts';
import { GPT, send } from '../messages/turns.ts';

/** Names that no name server answers for, chosen by one workspace, do not keep another one waiting. */

let names: NameServer;
let model: ModelServer;
let tools: ToolServer;
let app: TestApp;
beforeAll(async () => {
  names = new NameServer((name) => (name.endsWith('quick.example.com') ? ['127.0.0.1'] : 'silence'));
  [model, tools] = await Promise.all([startModelServer(), startToolServer()]);
  const nameServers = [await names.start()];
  app = await startTestApp({ models: model.settings(), allowPrivateNetwork: true, nameServers });
});
afterAll(async () => {
  await app.close();
  await Promise.all([tools.close(), model.close(), names.stop()]);
});

test('another workspace’s tool runs while twelve tests of tools with slow names wait', async () => {
  const { port } = new URL(tools.origin);
  const configuration = { url: `http://{{input.name}}.example.com:${port}/`, timeoutSeconds: 60 };
  const slow = await makeTool(app, { configuration });
  const quick = await makeTool(app, { configuration }, app.stranger.apiKey);
  const ended: string[] = [];
  const waiting = Array.from({ length: 12 }, async (_, each) => {
    const { errorMessage } = await tryTool(app, slow.publicId, { name: `slow-${each}` });
    ended.push('slow');
    return errorMessage;
  });
  const { status, body } = await app
    .api('post', `/http-tools/${quick.publicId}/test`, app.stranger.apiKey)
    .send({ inputs: { name: 'quick' } });
  ended.push('quick');
  expect([status, body.success]).toEqual([200, true]);
  for (const message of await Promise.all(waiting)) expect(message).toMatch(/could not be resolved/);
  expect(ended[0]).toBe('quick');
});

test('sixteen pages of slow names in one message take as long as one', async () => {
  const id = await connectBuiltin(app.workspace, 'http_fetch');
  const agentId = await agentWith(app, [{ kind: 'native_mcp', id }], { aiModelPublicId: GPT });
  const calls = Array.from({ length: 16 }, (_, each) =>
    toolCall('fetch_page', { url: `http://slow-page-${each}.example.com/` }, `call_${each}`),
  );
  model.script({ reply: '', toolCalls: calls }, { reply: 'Done.' });
  const begun = performance.now();
  await send(app, agentId, { content: 'Go.', timeoutSeconds: 120 }).expect(200);
  // One takes five seconds. Two threads of ten seconds each took 80.
  expect(performance.now() - begun).toBeLessThan(60_000);
  const results = resultsOf(model.requests[1]);
  expect(results).toHaveLength(16);
  for (const { text } of results) expect(text).toMatch(/could not be resolved/);
});
