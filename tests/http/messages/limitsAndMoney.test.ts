import { monthNamed, monthUsage } from '../../../db/queries/workspaces/usage.ts';
import { agentWith, postTool, stepsOf, turnsOf } from '../../support/agents/runtimeAgents.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { answering, startToolServer, type ToolServer } from '../../support/tools/httpTools.ts';
import { toolCall, WIRES } from '../../support/turns/exchanges.ts';
import { begun, customModel, publishedAgent, send, stored } from './turns.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
/** A second replica of the service. */
let other: TestApp;
let look: string;
let pay: string;

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  const options = { models: server.settings(), allowPrivateNetwork: true };
  app = await startTestApp(options);
  other = await startTestApp({ ...options, database: app.database, clock: app.clock });
  tools.on('/look', answering('{"seen":true}'));
  tools.on('/pay', answering('{"paid":true}'));
  look = (await postTool(app, tools, '/look')).publicId;
  pay = (await postTool(app, tools, '/pay', { requiresApproval: true })).publicId;
});
beforeEach(async () => {
  server.reset();
  await setLimit(null);
});
afterAll(async () => {
  await other.close();
  await app.close();
  await tools.close();
  await server.close();
});

/** Operations that the workspace may still take; null for no limit. */
async function setLimit(left: number | null): Promise<void> {
  const { operationsCounted, operations } = await thisMonth();
  await app.database.database.system
    .updateTable('workspaces')
    .set({ operation_limit: left === null ? null : (operationsCounted ?? operations) + left })
    .where('id', '=', app.workspace.workspaceId)
    .execute();
}
const thisMonth = ({ db, workspaceId }: SeededWorkspace = app.workspace) =>
  monthUsage(db, workspaceId, monthNamed(app.clock.now().toISOString().slice(0, 7)));
const act = (city: string, name = 'look') => toolCall(name, { city }, `call_${name}_${city}`);
const actor = (aiModelPublicId: string) =>
  agentWith(
    app,
    [
      { kind: 'http_tool', id: look },
      { kind: 'http_tool', id: pay },
    ],
    { aiModelPublicId },
  );

describe('operations', () => {
  test('of 200 concurrent messages at two replicas exactly 120 are answered at a limit of 120, some in existing conversations', async () => {
    const workspace = await app.database.seedWorkspace({ operationLimit: 124 });
    const { apiKey, db } = workspace;
    const agentId = await publishedAgent(app, {}, apiKey);
    const going: string[] = [];
    for (let place = 0; place < 4; place += 1) going.push(await begun(app, agentId, 'Hello.', apiKey));
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, place) => {
        const conversationId = place % 10 === 0 ? going[(place / 10) % 4] : undefined;
        return send(
          place % 2 ? app : other,
          agentId,
          { content: 'Hi', ...(conversationId ? { conversationId } : {}) },
          apiKey,
        );
      }),
    );
    const outcomes = Object.groupBy(answers, ({ status, body }) => `${status} ${body.code ?? ''}`.trim());
    expect(Object.entries(outcomes).map(([outcome, each]) => [outcome, each?.length])).toEqual([
      ['200', 120],
      ['429 OPERATION_LIMIT_REACHED', 80],
    ]);
    expect(server.requests).toHaveLength(124);
    expect(await thisMonth(workspace)).toMatchObject({ operations: 124, operationsCounted: 124, turns: 124 });
    const { roles } = await db
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('roles'))
      .where('role', '=', 'user')
      .executeTakeFirstOrThrow();
    expect(roles).toBe(124);
  });

  test.each(WIRES)('%s: a turn with tools is one operation, however many steps it has', async (_wire, model) => {
    const agentId = await actor(model);
    await setLimit(1);
    server.script({ reply: '', toolCalls: [act('Oslo'), act('Rome')] }, { reply: '', toolCalls: [act('Bonn')] });
    const { body } = await send(app, agentId, { content: 'Look.' }).expect(200);
    expect(server.requests).toHaveLength(3);
    expect(body.message.costOps).toBe(1);
    await send(app, agentId, { content: 'Look.' }).expect(429);
  });

  test('a message that decides on approvals is one operation', async () => {
    const agentId = await actor(await customModel(app.workspace));
    await setLimit(2);
    server.script({ reply: '', toolCalls: [act('Oslo', 'pay')] });
    const { body } = await send(app, agentId, { content: 'Pay.' }).expect(200);
    const { conversationId } = body;
    await send(app, agentId, { content: 'approve', conversationId }).expect(200);
    await send(app, agentId, { content: 'Thanks.', conversationId }).expect(429);
    expect((await stored(app, conversationId)).map(({ costOps }) => costOps)).toEqual([0, 1, 0, 1]);
  });

  test('at the limit a decision is refused too, and the call keeps waiting', async () => {
    const agentId = await actor(await customModel(app.workspace));
    await setLimit(1);
    server.script({ reply: '', toolCalls: [act('Oslo', 'pay')] });
    const { body } = await send(app, agentId, { content: 'Pay.' }).expect(200);
    const { conversationId } = body;
    tools.received.length = 0;
    await send(app, agentId, { content: 'approve', conversationId }).expect(429);
    expect(tools.received).toEqual([]);
    await setLimit(1);
    await send(app, agentId, { content: 'approve', conversationId }).expect(200);
    expect(tools.received).toHaveLength(1);
  });
});

describe('tokens and USD', () => {
  test('of the steps add up to those of the messages, the turns, the conversation and the month', async () => {
    const agentId = await actor(await customModel(app.workspace, { price: 2.5 }));
    const before = await thisMonth();
    const usage = (input: number, output: number) => ({ usage: { input, output } });
    server.script(
      { reply: '', toolCalls: [act('Oslo')], ...usage(1_001, 11) },
      { reply: '', toolCalls: [act('Oslo', 'pay')], ...usage(2_003, 13) },
      { reply: 'Paid.', ...usage(4_007, 17) },
      { reply: 'Bye.', ...usage(8_009, 19) },
    );
    const { body } = await send(app, agentId, { content: 'Look, then pay.' }).expect(200);
    const { conversationId } = body;
    await send(app, agentId, { content: 'approve', conversationId }).expect(200);
    await send(app, agentId, { content: 'Bye.', conversationId }).expect(200);
    const cost = (tokens: number) => (tokens * 2.5) / 1_000_000;
    const perTurn = [
      [3_004, 24, cost(3_028)],
      [4_007, 17, cost(4_024)],
      [8_009, 19, cost(8_028)],
    ];
    const replies = (await stored(app, conversationId)).filter(({ role }) => role === 'assistant');
    expect(replies.map((each) => [each.tokenUsage?.inputTokens, each.tokenUsage?.outputTokens, each.costUsd])).toEqual(
      perTurn,
    );
    const turns = await turnsOf(app, conversationId);
    expect(turns.map((each) => [each.input_tokens, each.output_tokens, Number(each.cost_usd)])).toEqual(perTurn);
    const steps = (await stepsOf(app, conversationId)).filter(({ kind }) => kind === 'model');
    expect(steps.map((each) => [each.input_tokens, Number(each.cost_usd)])).toEqual([
      [1_001, cost(1_012)],
      [2_003, cost(2_016)],
      [4_007, cost(4_024)],
      [8_009, cost(8_028)],
    ]);
    expect(await totalsOf(conversationId)).toEqual([15_020, 60, cost(15_080)]);
    const after = await thisMonth();
    expect(after.inputTokens - before.inputTokens).toBe(15_020);
    expect(after.costUsd - before.costUsd).toBeCloseTo(cost(15_080), 9);
    expect(after.operations - before.operations).toBe(3);
  });

  test('of a turn that fails midway count for the turn and the conversation; its operation is given back', async () => {
    const agentId = await actor(await customModel(app.workspace, { price: 2.5 }));
    const conversationId = await begun(app, agentId);
    const [inputs = 0, outputs = 0] = await totalsOf(conversationId);
    await setLimit(1);
    server.script({ reply: '', toolCalls: [act('Oslo')], usage: { input: 1_000, output: 10 } }, { status: 500 });
    await send(app, agentId, { content: 'Look.', conversationId }).expect(502);
    expect((await turnsOf(app, conversationId)).at(-1)).toMatchObject({
      status: 'failed',
      error_code: 'MODEL_PROVIDER_ERROR',
      input_tokens: 1_000,
      output_tokens: 10,
    });
    expect((await totalsOf(conversationId)).slice(0, 2)).toEqual([inputs + 1_000, outputs + 10]);
    const steps = (await stepsOf(app, conversationId)).slice(1);
    expect(steps.map(({ kind, status, input_tokens }) => [kind, status, input_tokens])).toEqual([
      ['model', 'done', 1_000],
      ['tool', 'done', null],
      ['model', 'failed', null],
    ]);
    // No reply was stored, and the operation is available again.
    expect(await stored(app, conversationId)).toHaveLength(3);
    await send(app, agentId, { content: 'Again.', conversationId }).expect(200);
    await send(app, agentId, { content: 'More.', conversationId }).expect(429);
  });

  test('of a turn that times out in a tool count as well', async () => {
    const agentId = await actor(await customModel(app.workspace, { price: 2.5 }));
    const conversationId = await begun(app, agentId);
    const [inputs = 0] = await totalsOf(conversationId);
    tools.on('/look', () => {});
    server.script({ reply: '', toolCalls: [act('Oslo')], usage: { input: 1_000, output: 10 } });
    await send(app, agentId, { content: 'Look.', conversationId, timeoutSeconds: 1 }).expect(408);
    tools.on('/look', answering('{"seen":true}'));
    expect((await turnsOf(app, conversationId)).at(-1)).toMatchObject({
      error_code: 'AGENT_TIMEOUT',
      input_tokens: 1_000,
    });
    expect((await totalsOf(conversationId))[0]).toBe(inputs + 1_000);
  });
});

/** Tokens in and out, and USD, that the conversation has cost. */
async function totalsOf(conversationId: string): Promise<number[]> {
  const row = await app.workspace.db
    .selectFrom('conversations')
    .select(['input_tokens', 'output_tokens', 'cost_usd'])
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow();
  return [row.input_tokens, row.output_tokens, row.cost_usd].map(Number);
}
