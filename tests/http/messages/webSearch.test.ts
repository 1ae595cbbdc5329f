import { stepsOf } from '../../support/agents/runtimeAgents.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { type SearchServers, startSearchServers } from '../../support/servers/searchServers.ts';
import { lastResult, systemOf, toolCall, toolNames, WIRES } from '../../support/turns/exchanges.ts';
import { GPT, publishedAgent, send } from './turns.ts';

let server: ModelServer;
let services: SearchServers;
let app: TestApp;
/** An app without a search service. */
let without: TestApp;

beforeAll(async () => {
  server = await startModelServer();
  services = await startSearchServers();
  app = await startTestApp({ models: server.settings(), webSearch: services.settings });
  without = await startTestApp({ models: server.settings() });
});
beforeEach(() => {
  server.reset();
  for (const { pages, queries } of [services.searxng, services.tavily, services.brave]) {
    pages.length = 0;
    queries.length = 0;
  }
  services.searxng.fault = undefined;
});
afterAll(async () => {
  await app.close();
  await without.close();
  await services.close();
  await server.close();
});

const PAGE = { title: 'Oslo today', url: 'https://news.example.com/oslo', snippet: 'It <b>snows</b> in Oslo.' };
const searcher = (on: TestApp, aiModelPublicId = GPT) =>
  publishedAgent(on, { aiModelPublicId, webSearchEnabled: true, systemPrompt: 'You help.' });
const search = (query: string) => ({ reply: '', toolCalls: [toolCall('web_search', { query })] });

describe.each(WIRES)('%s', (_wire, model) => {
  test('the model searches the web and replies from the results', async () => {
    services.searxng.pages.push(PAGE);
    const agentId = await searcher(app, model);
    server.script(search('oslo news'), { reply: 'It snows: https://news.example.com/oslo' });
    const { body } = await send(app, agentId, { content: 'What is new in Oslo?' }).expect(200);
    expect(systemOf(server.requests[0])).toMatch(/^You help\.\n\n# Web search\n\nUse `web_search`/);
    expect(toolNames(server.requests[0])).toEqual(['web_search']);
    expect(services.searxng.queries).toMatchObject([{ query: 'oslo news' }]);
    expect(lastResult(server.requests[1])).toEqual({
      text: 'Found on the web for “oslo news”:\n\n1. Oslo today\n   https://news.example.com/oslo\n   It snows in Oslo.',
      isError: false,
    });
    expect(body.messages[0].content).toBe('It snows: https://news.example.com/oslo');
  });
});

test('when one service fails the next is asked; no prompt, response or stored row contains a key', async () => {
  services.searxng.fault = { status: 500 };
  services.tavily.pages.push(PAGE);
  const agentId = await searcher(app);
  server.script(search('oslo'));
  const { body } = await send(app, agentId, { content: 'Oslo?' }).expect(200);
  expect(lastResult(server.requests[1]).text).toContain('Oslo today');
  expect(services.tavily.queries).toHaveLength(1);
  const seen = JSON.stringify([server.requests.map((each) => each.body), await stepsOf(app, body.conversationId)]);
  for (const secret of services.secrets) expect(seen).not.toContain(secret);
});

test('without a service there is no tool, and the prompt says that web search is not configured', async () => {
  const agentId = await searcher(without);
  server.script({ reply: 'I cannot search.' });
  await send(without, agentId, { content: 'Oslo?' }).expect(200);
  expect(systemOf(server.requests[0])).toMatch(
    /# Web search\n\nYou cannot search the web: web search is not configured/,
  );
  expect(toolNames(server.requests[0])).toEqual([]);
});

test('with the feature off there is neither a section in the prompt nor a tool', async () => {
  const agentId = await publishedAgent(app, { aiModelPublicId: GPT });
  await send(app, agentId, { content: 'Oslo?' }).expect(200);
  expect(systemOf(server.requests[0])).toBe('');
  expect(toolNames(server.requests[0])).toEqual([]);
});
