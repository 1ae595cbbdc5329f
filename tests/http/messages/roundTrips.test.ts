import { connectDatabase } from '../../../db/connect.ts';
import { rememberFact } from '../../../db/queries/conversations/memories.ts';
import { tapDatabase, type Wiretap } from '../../../scripts/bench/wire.ts';
import { makeReadyAgent, publish } from '../../support/agents/agents.ts';
import { makeTarget } from '../../support/agents/links.ts';
import { agentWith } from '../../support/agents/runtimeAgents.ts';
import { createTestDatabase, type TestDatabase } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { makeSource, processed } from '../../support/knowledge/knowledge.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { makeTool } from '../../support/tools/httpTools.ts';
import { send } from './turns.ts';

/** The maximum of round trips to the database before the model is called: the one that begins the turn, and the two of the search. */
const MAX_ROUND_TRIPS = 3;

let server: ModelServer;
let base: TestDatabase;
let tap: Wiretap;
/** The app that makes the agent and processes its knowledge. */
let maker: TestApp;
/** The app whose round trips are counted. It runs no jobs. */
let app: TestApp;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  base = await createTestDatabase();
  tap = await tapDatabase(base.url);
  maker = await startTestApp({ models: server.settings(), database: base, jobs: true });
  const database = { ...base, url: tap.url, database: connectDatabase(tap.url, { poolSize: 4 }) };
  app = await startTestApp({ models: server.settings(), database });
  const helper = await makeReadyAgent(maker);
  await publish(maker, helper.publicId);
  const { publicId: toolId } = await makeTool(maker);
  const textContent = 'Returns are taken for thirty days. Orders leave within a day.';
  const { publicId: sourceId } = await makeSource(maker, { name: 'Handbook', textContent });
  await processed(maker, sourceId);
  agentId = await agentWith(
    maker,
    [
      { kind: 'http_tool', id: toolId },
      { kind: 'knowledge_source', id: sourceId },
      { kind: 'skill', id: await makeTarget(maker, 'skill') },
      { kind: 'external_mcp', id: await makeTarget(maker, 'external_mcp') },
      { kind: 'native_mcp', id: await makeTarget(maker, 'native_mcp') },
      { kind: 'sub_agent', id: helper.publicId },
    ],
    { longTermMemoryEnabled: true, systemPrompt: 'Help {{customer}}.', dynamicPromptEnabled: true },
  );
  const { db, workspaceId } = maker.workspace;
  await rememberFact(db, workspaceId, { agentId, externalUserId: 'ada' }, 'Likes blue.', new Date());
});
afterAll(async () => {
  await app.close();
  await maker.close();
  await app.database.database.end();
  await tap.close();
  await base.drop();
  await server.close();
});

const key = () => maker.workspace.apiKey;

/** Round trips until the model is called, with warm caches. */
async function counted(body: () => object): Promise<number> {
  let before = 0;
  for (let i = 0; ; i += 1) {
    server.reset();
    void server.received(1).then(() => {
      before = tap.roundTrips();
    });
    await tap.during(async () => {
      await send(app, agentId, body(), key()).expect(200);
    });
    if (i === 4) return before;
  }
}

test('a new conversation of an agent with everything: at most three before the model', async () => {
  const before = await counted(() => ({ content: 'Are returns taken?', externalUserId: 'ada' }));
  expect(JSON.stringify(server.requests[0]?.body)).toContain('thirty days');
  expect(JSON.stringify(server.requests[0]?.body)).toContain('Likes blue.');
  expect(before).toBeGreaterThan(1);
  expect(before).toBeLessThanOrEqual(MAX_ROUND_TRIPS);
});

test('a continued conversation: also at most three', async () => {
  const { body } = await send(app, agentId, { content: 'Hello.', externalUserId: 'ada' }, key()).expect(200);
  const { conversationId } = body;
  const before = await counted(() => ({ content: 'Are returns taken?', conversationId }));
  expect(before).toBeGreaterThan(1);
  expect(before).toBeLessThanOrEqual(MAX_ROUND_TRIPS);
});
