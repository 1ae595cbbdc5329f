import { newId } from '../../core/ids.ts';
import { beginConversation } from '../../db/queries/turns/beginConversation.ts';
import { insertSteps } from '../../db/queries/turns/turnSteps.ts';
import { publishedAgent, send } from '../http/messages/turns.ts';
import { addModel } from '../support/agents/agents.ts';
import { startTestApp, type TestApp, TestClock } from '../support/http/app.ts';
import { adminJson, admin as run } from '../support/scripts/admin.ts';
import { type ModelServer, startModelServer } from '../support/servers/modelServer.ts';
import { interruptDead } from '../support/turns/interruptDead.ts';
import { stepRow } from '../support/turns/stepRow.ts';
import { turnStart } from '../support/turns/storedTurns.ts';

const MONTH = '2026-03';
/** The last moment of the month. */
const AT = new Date('2026-03-31T23:59:59.999Z');

/** A clock that the tests set. */
class CalendarClock extends TestClock {
  at = AT;
  override now(): Date {
    return new Date(this.at);
  }
}

let server: ModelServer;
let clock: CalendarClock;
let app: TestApp;

beforeAll(async () => {
  server = await startModelServer();
  clock = new CalendarClock();
  app = await startTestApp({ models: server.settings(), clock });
});
beforeEach(() => {
  server.reset();
  clock.at = AT;
});
afterAll(async () => {
  await app.close();
  await server.close();
});

const admin = (...args: string[]) => run(app.database, 'usage', ...args);
const used = (workspaceId: string, month = MONTH) =>
  adminJson(app.database, 'usage', 'show', '--workspace', workspaceId, '--month', month);

/** A workspace with an agent on a model that costs $1 for a million tokens in and $2 for a million out. */
async function customer(operationLimit?: number) {
  const workspace = await app.database.seedWorkspace(operationLimit === undefined ? {} : { operationLimit });
  const price = { input_cost_per_1m_tokens: 1, output_cost_per_1m_tokens: 2, supports_thinking: false };
  const model = { provider: 'openai-compatible', model_id: 'house-1', ...price };
  const aiModelPublicId = await addModel(workspace, model);
  const agentId = await publishedAgent(app, { aiModelPublicId }, workspace.apiKey);
  const say = (content = 'Hello.') => send(app, agentId, { content }, workspace.apiKey);
  return { ...workspace, agentId, say };
}

const nothing = { operations: 0, turns: 0, turnsFailed: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, models: [] };

test('show sums the operations, turns, tokens and cost of a month in UTC, in total and by agent and model', async () => {
  const { workspaceId, agentId, say } = await customer();
  server.script({ reply: 'One.', usage: { input: 1000, output: 100 } });
  server.script({ reply: 'Two.', usage: { input: 2000, output: 200 } });
  await say().expect(200);
  clock.at = new Date('2026-03-01T00:00:00Z');
  await say().expect(200);
  clock.at = new Date('2026-04-01T00:00:00Z');
  await say().expect(200);
  expect(await used(workspaceId)).toEqual({
    workspacePublicId: workspaceId,
    month: MONTH,
    operationLimit: null,
    operations: 2,
    operationsCounted: null,
    turns: 2,
    turnsFailed: 0,
    inputTokens: 3000,
    outputTokens: 300,
    costUsd: 0.0036,
    models: [
      {
        agentPublicId: agentId,
        agentName: expect.any(String),
        provider: 'openai-compatible',
        model: 'house-1',
        calls: 2,
        inputTokens: 3000,
        outputTokens: 300,
        costUsd: 0.0036,
      },
    ],
  });
  expect(await used(workspaceId, '2026-04')).toMatchObject({ operations: 1, turns: 1, inputTokens: 11 });
  expect(await used(workspaceId, '2026-02')).toMatchObject(nothing);
});

test('a failed turn costs no operation, but counts as a turn, with the tokens that it used', async () => {
  const { workspaceId, say } = await customer(5);
  await say().expect(200);
  server.script({ status: 500 });
  await say().expect(502);
  expect(await used(workspaceId)).toMatchObject({
    operationLimit: 5,
    operations: 1,
    operationsCounted: 1,
    turns: 2,
    turnsFailed: 1,
    inputTokens: 11,
    models: [{ calls: 2 }],
  });
});

test('the tokens that a turn used before its process died are counted', async () => {
  const { workspaceId, agentId, db } = await customer();
  const start = turnStart({ workspaceId, conversationId: newId(), agentId, now: AT });
  await beginConversation(db, start, { externalUserId: 'ann', isTest: false, metadata: {} });
  const step = { agent_id: agentId, name: 'house-1', provider: 'openai-compatible', started_at: AT };
  const spent = { input_tokens: 500, output_tokens: 50, cost_usd: 0.0006 };
  await insertSteps(db, start, [
    stepRow({ ...step, ...spent, seq: 0 }),
    stepRow({ ...step, seq: 1, kind: 'tool', name: 'pay' }),
  ]);
  const total = { turns: 1, inputTokens: 500, outputTokens: 50, costUsd: 0.0006 };
  const models = [{ model: 'house-1', calls: 1, inputTokens: 500 }];
  expect(await used(workspaceId)).toMatchObject({ ...total, turnsFailed: 0, models });
  await db
    .updateTable('conversations')
    .set({ turn_expires_at: new Date(0) })
    .execute();
  await interruptDead(app.database.database, AT);
  expect(await used(workspaceId)).toMatchObject({ ...total, turnsFailed: 1 });
  expect(
    await db
      .selectFrom('conversations')
      .select(['turn_id', 'turn_expires_at', 'input_tokens', 'output_tokens', 'cost_usd'])
      .execute(),
  ).toEqual([{ turn_id: null, turn_expires_at: null, input_tokens: 500, output_tokens: 50, cost_usd: 0.0006 }]);
});

test('prints text without --json; the default is the current month', async () => {
  const { workspaceId, agentId, say } = await customer(5);
  clock.at = new Date();
  await say().expect(200);
  const { stdout } = await admin('show', '--workspace', workspaceId);
  const lines = stdout.split('\n');
  expect(lines.slice(0, 7)).toEqual([
    `month      ${new Date().toISOString().slice(0, 7)} (UTC)`,
    'operations 1 of 5, 1 counted',
    'turns      1, 0 of them failed or interrupted',
    'tokens     11 in, 4 out',
    'cost       $0.000019',
    '',
    `AGENT${' '.repeat(33)}MODEL${' '.repeat(22)}CALLS  TOKENS IN  TOKENS OUT  USD        NAME`,
  ]);
  expect(lines[7]).toContain(`${agentId}  openai-compatible/house-1  1      11         4           $0.000019  Agent`);
  const fresh = await customer();
  expect((await admin('show', '--workspace', fresh.workspaceId, '--month', MONTH)).stdout).toContain(
    'operations 0, no limit\n',
  );
});

test('an unknown workspace exits with 1', async () => {
  const id = newId();
  expect(await admin('show', '--workspace', id)).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: There is no workspace ${id}\n`,
  });
});

test.each([
  [[], '--workspace is missing'],
  [['--workspace', 'mine'], '--workspace must be a UUID'],
  [['--workspace', '019a0000-0000-7000-8000-000000000000', '--month', '2026-13'], '--month must be a month'],
  [['--workspace', '019a0000-0000-7000-8000-000000000000', '--month', 'March'], '--month must be a month'],
])('show %j is a usage error', async (args, reason) => {
  const { code, stderr } = await admin('show', ...args);
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});
