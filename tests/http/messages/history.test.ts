import { agentWith, postTool } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { answering, startToolServer } from '../../support/tools/httpTools.ts';
import { toolCall } from '../../support/turns/exchanges.ts';
import { begun, customModel, publishedAgent, said, send } from './turns.ts';

let server: ModelServer;
let app: TestApp;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
});
beforeEach(() => server.reset());
afterAll(async () => {
  await app.close();
  await server.close();
});

const words = (count: number) => Array(count).fill('lorem').join(' ');

test('a small context window drops whole turns, the oldest first, and never the instructions', async () => {
  const agentId = await publishedAgent(app, {
    aiModelPublicId: await customModel(app.workspace, { contextWindow: 300 }),
    systemPrompt: 'Stay the same.',
  });
  server.fallback = { reply: `Answer ${words(20)}` };
  const conversationId = await begun(app, agentId, `Question 1 ${words(20)}`);
  for (const number of [2, 3, 4, 5, 6]) {
    await send(app, agentId, { content: `Question ${number} ${words(20)}`, conversationId }).expect(200);
  }
  const seen = server.requests.map((request) =>
    said(request).map((line) => line.replace(/(Question \d|Answer).*/, '$1')),
  );
  expect(seen[1]).toEqual(['system: Stay the same.', 'user: Question 1', 'assistant: Answer', 'user: Question 2']);
  const last = seen[5] ?? [];
  expect(last[0]).toBe('system: Stay the same.');
  expect(last.at(-1)).toBe('user: Question 6');
  const history = last.slice(1, -1);
  expect(history.length).toBeGreaterThan(0);
  expect(history.length).toBeLessThan(10);
  // Only the newest turns are left, each of them whole.
  const first = 6 - history.length / 2;
  const whole = Array.from({ length: history.length / 2 }, (_, i) => [
    `user: Question ${first + i}`,
    'assistant: Answer',
  ]);
  expect(history).toEqual(whole.flat());
});

test('a message that fills the window is sent without any history', async () => {
  const agentId = await publishedAgent(app, {
    aiModelPublicId: await customModel(app.workspace, { contextWindow: 100 }),
  });
  const conversationId = await begun(app, agentId, 'Short.');
  const long = words(90);
  await send(app, agentId, { content: long, conversationId }).expect(200);
  expect(said(server.requests[1])).toEqual([`user: ${long}`]);
});

test('of a conversation far longer than the window only a part is read', async () => {
  const agentId = await publishedAgent(app, {
    aiModelPublicId: await customModel(app.workspace, { contextWindow: 1000 }),
  });
  const conversationId = await begun(app, agentId, 'The very first.');
  const filler = 'x'.repeat(30_000);
  for (let i = 0; i < 3; i += 1) await send(app, agentId, { content: `${i} ${filler}`, conversationId }).expect(200);
  await send(app, agentId, { content: 'And now?', conversationId }).expect(200);
  const seen = said(server.requests.at(-1));
  expect(seen.at(-1)).toBe('user: And now?');
  expect(seen.join('\n')).not.toContain('The very first.');
  expect(seen.join('\n').length).toBeLessThan(8000);
});

test('a long history is shortened for the results of tools, and the message of this turn is kept', async () => {
  const tools = await startToolServer();
  tools.on('/look', answering(JSON.stringify({ seen: 'y'.repeat(5_000) })));
  const { publicId } = await postTool(app, tools, '/look');
  const aiModelPublicId = await customModel(app.workspace, { contextWindow: 4_000 });
  const agentId = await agentWith(app, [{ kind: 'http_tool', id: publicId }], { aiModelPublicId });
  const conversationId = await begun(app, agentId, `Question 1 ${words(400)}`);
  for (const number of [2, 3, 4, 5]) {
    await send(app, agentId, { content: `Question ${number} ${words(400)}`, conversationId }).expect(200);
  }
  server.reset();
  server.script({ reply: '', toolCalls: [toolCall('look', { city: 'Oslo' })] });
  await send(app, agentId, { content: 'And Oslo?', conversationId }).expect(200);
  const [asked, told] = server.requests.map((request) => said(request).filter((line) => line.startsWith('user: ')));
  expect(asked?.length).toBeGreaterThan(told?.length ?? 0);
  expect(told?.at(-1)).toBe('user: And Oslo?');
  expect(JSON.stringify(server.requests[1]?.body)).toContain('yyyy');
  expect(JSON.stringify(server.requests[1]?.body).length).toBeLessThan(4_000 * 3);
  await tools.close();
});
