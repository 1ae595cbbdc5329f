import { publish } from '../../support/agents/agents.ts';
import { link, stepsOf } from '../../support/agents/runtimeAgents.ts';
import { adminQuery } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { lastResult, toolCall, toolNames } from '../../support/turns/exchanges.ts';
import { draftAgent, GPT, LOCAL, publishedAgent, send } from './turns.ts';

let server: ModelServer;
let app: TestApp;
/** Part of each name, since the names of agents are unique in the workspace. */
let round = 0;

beforeAll(async () => {
  server = await startModelServer();
  app = await startTestApp({ models: server.settings() });
});
beforeEach(() => {
  server.reset();
  round += 1;
});
afterAll(async () => {
  await app.close();
  await server.close();
});

const nameOf = (name: string) => `delegate_to_${name}-${round}`;
const delegate = (name: string, id?: string) => toolCall(nameOf(name), { task: `Go to ${name}.` }, id);

/** Published agents of these names, each of which can delegate to the next. */
async function chain(names: readonly string[], aiModelPublicId: string): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push(await draftAgent(app, { name: `${name}-${round}`, aiModelPublicId }));
  for (const [place, id] of ids.entries()) {
    const next = ids[place + 1];
    if (next) await link(app, id, 'sub_agent', next);
  }
  for (const id of ids.toReversed()) await publish(app, id);
  return ids;
}

test('versions that were published one after the other may form a cycle; an agent cannot delegate to one that called it', async () => {
  const [a = '', b = ''] = await chain(['A', 'B'], GPT);
  await app.api('delete', `/agents/${a}/sub-agents/${b}`).expect(204);
  await link(app, b, 'sub_agent', a);
  await publish(app, b);
  for (const [first, second] of [
    [a, 'B'],
    [b, 'A'],
  ] as const) {
    server.reset();
    server.script({ reply: '', toolCalls: [delegate(second)] });
    await send(app, first, { content: 'Go.' }).expect(200);
    expect(server.requests.map(toolNames)).toEqual([[nameOf(second)], [], [nameOf(second)]]);
  }
});

test('delegation is at most four agents deep, counting the agent of the conversation', async () => {
  const [first = ''] = await chain(['A', 'B', 'C', 'D', 'E'], GPT);
  server.script(
    ...['B', 'C', 'D'].map((name) => ({ reply: '', toolCalls: [delegate(name)] })),
    { reply: 'D says so.' },
    { reply: 'C says so.' },
    { reply: 'B says so.' },
    { reply: 'Done.' },
  );
  const { body } = await send(app, first, { content: 'Go.' }).expect(200);
  expect(server.requests.slice(0, 4).map(toolNames)).toEqual([[nameOf('B')], [nameOf('C')], [nameOf('D')], []]);
  expect(lastResult(server.requests.at(-1)).text).toBe('B says so.');
  expect(Math.max(...(await stepsOf(app, body.conversationId)).map(({ depth }) => depth))).toBe(3);
});

test('endless delegation is stopped: a turn makes at most 100 model calls, parallel ones included', async () => {
  const [first = ''] = await chain(['A', 'B', 'C', 'D'], LOCAL);
  // Each agent has its own sub-agent among these calls.
  const calls = Array.from({ length: 10 }, (_, place) =>
    ['B', 'C', 'D'].map((name) => delegate(name, `${name}_${place}`)),
  );
  server.fallback = { reply: '', toolCalls: calls.flat() };
  const { body } = await send(app, first, { content: 'Go.' }).expect(200);
  expect(server.requests).toHaveLength(100);
  const steps = await stepsOf(app, body.conversationId);
  expect(steps.filter(({ kind, status }) => kind === 'model' && status === 'done')).toHaveLength(
    server.requests.length,
  );
  expect(steps.every(({ status }) => status === 'done' || status === 'failed')).toBe(true);
});

test('an agent of another workspace cannot be reached by a link in a snapshot', async () => {
  const theirs = await publishedAgent(app, {}, app.stranger.apiKey);
  const [agentId = ''] = await chain(['A', 'B'], GPT);
  // Only the superuser can write this: the service may not change a version.
  const rows = await adminQuery(
    `update agent_versions set snapshot = jsonb_set(snapshot, '{subAgents,0,subAgentPublicId}', '"${theirs}"')
     where agent_id = '${agentId}' returning 1`,
    app.database.name,
  );
  expect(rows).toHaveLength(1);
  await send(app, agentId, { content: 'Go.' }).expect(200);
  expect(toolNames(server.requests[0])).toEqual([]);
});
