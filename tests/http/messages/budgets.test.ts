import { newId } from '../../../core/ids.ts';
import { addModel } from '../../support/agents/agents.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { startTestApp, type TestApp, TestClock } from '../../support/http/app.ts';
import { makePayingClient } from '../../support/hub/payingClients.ts';
import { adminJson, admin as run } from '../../support/scripts/admin.ts';
import { type ModelServer, startModelServer } from '../../support/servers/modelServer.ts';
import { publishedAgent, send } from './turns.ts';

/** The commands take the time of the machine, so the service has it, too. */
class RealClock extends TestClock {
  aheadMs = 0;
  override now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

let server: ModelServer;
let app: TestApp;
let clock: RealClock;
let workspace: SeededWorkspace;
let agentId: string;

beforeAll(async () => {
  server = await startModelServer();
  clock = new RealClock();
  app = await startTestApp({ models: server.settings(), clock });
});
beforeEach(async () => {
  server.reset();
  clock.aheadMs = 0;
  workspace = await app.database.seedWorkspace();
  agentId = await pricedAgent();
});
afterAll(async () => {
  await app.close();
  await server.close();
});

/** An agent whose answers cost a dollar for a million tokens, in and out. */
async function pricedAgent(): Promise<string> {
  const price = { input_cost_per_1m_tokens: 1, output_cost_per_1m_tokens: 1, supports_thinking: false };
  const model = { provider: 'openai-compatible', model_id: `m-${newId()}`, ...price };
  const aiModelPublicId = await addModel(workspace, model);
  return publishedAgent(app, { aiModelPublicId, longTermMemoryEnabled: true }, workspace.apiKey);
}

const ask = (body: object = {}, agent = agentId) => send(app, agent, { content: 'Hi.', ...body }, workspace.apiKey);
const budget = (verb: string, ...args: string[]) =>
  adminJson(app.database, 'budget', verb, '--workspace', workspace.workspaceId, ...args);
const listed = () => budget('list');
/** An answer that costs so many dollars. */
const costing = (usd: number) =>
  server.script({ reply: 'Done.', usage: { input: usd * 500_000, output: usd * 500_000 } });

const nextMonth = () => {
  const now = clock.now();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
};

describe('a budget in operations', () => {
  test('of an agent is exact, refuses with the time until the next month, and begins anew then', async () => {
    await ask().expect(200);
    await budget('set', '--agent', agentId, '--operations', '4');
    expect(await listed()).toMatchObject([{ scope: 'agent', unit: 'operations', amount: 4, used: 1, reserved: 0 }]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    const { body, headers } = await ask().expect(429);
    expect(body).toMatchObject({ code: 'OPERATION_LIMIT_REACHED', message: 'A budget of this month is used up.' });
    expect(Math.abs(clock.now().getTime() + Number(headers['retry-after']) * 1000 - nextMonth())).toBeLessThan(60_000);
    await ask({}, await pricedAgent()).expect(200);
    expect(await listed()).toMatchObject([{ used: 4, reserved: 0 }]);
    clock.aheadMs = nextMonth() - Date.now() + 1000;
    await ask().expect(200);
    await budget('remove', '--agent', agentId, '--unit', 'operations');
    expect(await listed()).toEqual([]);
    for (let each = 0; each < 4; each += 1) await ask().expect(200);
  });

  test('of an end user holds for nobody else, and that of a client beside its credits', async () => {
    await budget('set', '--end-user', 'ada', '--operations', '1');
    const clientPublicId = await makePayingClient(workspace, { credits: 5 });
    await budget('set', '--client', clientPublicId, '--operations', '1');
    await ask({ externalUserId: 'ada' }).expect(200);
    await ask({ externalUserId: 'ada' }).expect(429);
    const { conversationId } = (await ask({ externalUserId: 'bob', metadata: { clientPublicId } }).expect(200)).body;
    await ask({ conversationId }).expect(429);
    await ask({ externalUserId: 'bob' }).expect(200);
    const account = await workspace.db
      .selectFrom('credit_accounts')
      .select(['included', 'reserved'])
      .executeTakeFirst();
    expect(account).toEqual({ included: 4, reserved: 0 });
  });

  test('of 0 refuses everything; a turn that fails gives back what it reserved', async () => {
    await budget('set', '--agent', agentId, '--operations', '0');
    await ask().expect(429);
    await budget('set', '--agent', agentId, '--operations', '1');
    server.script({ status: 500 });
    await ask().expect(502);
    expect(await listed()).toMatchObject([{ used: 0, reserved: 0 }]);
    await ask().expect(200);
    await ask().expect(429);
  });

  test('of a workspace is its quota', async () => {
    await ask().expect(200);
    await budget('set', '--operations', '2');
    expect(await listed()).toMatchObject([{ scope: 'workspace', unit: 'operations', amount: 2, used: 1 }]);
    await ask().expect(200);
    await ask().expect(429);
    await budget('remove', '--unit', 'operations');
    await ask().expect(200);
    expect(await listed()).toEqual([]);
  });
});

describe('a budget in USD', () => {
  test('counts what turns cost, failed ones too, and refuses a turn like the dearest of late', async () => {
    await budget('set', '--usd', '1');
    costing(0.25);
    await ask().expect(200);
    expect(await listed()).toMatchObject([{ scope: 'workspace', unit: 'usd', amount: 1, used: 0.25, reserved: 0 }]);
    costing(0.25);
    await ask().expect(200);
    server.script(
      {
        reply: '',
        toolCalls: [{ id: 'c', name: 'remember', arguments: '{"fact":"Likes tea."}' }],
        usage: { input: 400_000, output: 0 },
      },
      { status: 500 },
    );
    await ask().expect(502);
    expect(await listed()).toMatchObject([{ used: 0.9, reserved: 0 }]);
    await ask().expect(429);
    await budget('set', '--usd', '2');
    await ask().expect(200);
  });

  test('reserves before the model is asked: no turn begins that may not fit beside those that run', async () => {
    await budget('set', '--agent', agentId, '--usd', '0.025');
    server.fallback = { silence: true };
    const running = [1, 2].map(() => ask().then(({ status }) => status));
    await server.received(2);
    expect(await listed()).toMatchObject([{ used: 0, reserved: 0.02 }]);
    await ask().expect(429);
    server.cut();
    expect(await Promise.all(running)).toEqual([502, 502]);
    expect(await listed()).toMatchObject([{ used: 0, reserved: 0 }]);
  });

  test('begins with what the month has cost', async () => {
    costing(0.5);
    await ask({ externalUserId: 'ada' }).expect(200);
    await budget('set', '--end-user', 'ada', '--usd', '0.5');
    expect(await listed()).toMatchObject([{ scope: 'end_user', target: 'ada', used: 0.5 }]);
    await ask({ externalUserId: 'ada' }).expect(429);
  });
});

describe('the command', () => {
  test.each([
    [['set', '--operations', '1', '--usd', '1'], 2, 'Give one of'],
    [['set'], 2, 'Give one of'],
    [['set', '--operations=-1'], 2, 'whole number'],
    [['set', '--usd', 'NaN'], 2, '--usd must be'],
    [['set', '--agent', newId(), '--client', newId(), '--usd', '1'], 2, 'Give one of'],
    [['set', '--agent', newId(), '--usd', '1'], 1, 'no agent'],
    [['set', '--client', newId(), '--usd', '1'], 1, 'no client'],
    [['remove', '--unit', 'usd'], 1, 'no such budget'],
    [['remove', '--unit', 'operations'], 1, 'no such budget'],
    [['remove', '--unit', 'credits'], 2, '--unit must be'],
  ])('refuses %j', async (args, code, message) => {
    const result = await run(app.database, 'budget', ...args, '--workspace', workspace.workspaceId);
    expect(result.code).toBe(code);
    expect(result.stdout + result.stderr).toContain(message);
    expect(await listed()).toEqual([]);
  });

  test('does not reach into another workspace', async () => {
    const foreign = await app.database.seedWorkspace();
    const args = ['set', '--workspace', foreign.workspaceId, '--agent', agentId, '--usd', '1'];
    expect((await run(app.database, 'budget', ...args)).code).toBe(1);
  });
});
