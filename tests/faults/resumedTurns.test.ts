import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { transcript } from '../http/messages/turns.ts';
import { agentWith, postTool, stepsOf } from '../support/agents/runtimeAgents.ts';
import { adminQuery } from '../support/db/database.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { gatedReply, type ModelServer, type Step, startModelServer } from '../support/servers/modelServer.ts';
import { startToolServer, type ToolServer } from '../support/tools/httpTools.ts';
import { call, cleanUp, freshFolder, type ServiceProcess, startService } from './service.ts';

let server: ModelServer;
let tools: ToolServer;
let app: TestApp;
/** What is not answered: `P3 model 1` is the second answer of the agent to P3, `P3 helper 0` the first of its sub-agent, `P3 pay` a call. */
let held: Set<string>;
/** What has been asked, in the same words. */
let asked: string[];
/** The first answer to P22. */
const gate = { ...gatedReply(), isNew: true };

beforeAll(async () => {
  server = await startModelServer();
  tools = await startToolServer();
  app = await startTestApp({ models: server.settings(), allowPrivateNetwork: true });
  await sql`update workspaces set operation_limit = 1000, turn_limit = 1000 where id = ${app.workspace.workspaceId}`.execute(
    app.database.database.system,
  );
  Object.defineProperty(server, 'fallback', { get: () => stepFor(server.requests.at(-1)?.body ?? {}), set: () => {} });
  for (const path of ['/pay', '/look', '/wire'])
    tools.on(path, ({ body }, response) => {
      const key = `${JSON.parse(body).city} ${path.slice(1)}`;
      asked.push(key);
      if (!held.has(key)) response.writeHead(200, { 'content-type': 'text/plain' }).end(`Did ${key}.`);
    });
});
beforeEach(() => {
  held = new Set();
  asked = [];
});
afterEach(cleanUp);
afterAll(async () => {
  await app.close();
  await tools.close();
  await server.close();
});

/** The tools that are asked for in each step of the agent, by the word after the point; then it answers. */
const PLANS: Record<string, string[][]> = {
  plain: [],
  pay: [['pay']],
  both: [['pay', 'look']],
  two: [['pay'], ['look']],
  help: [['helper']],
  mixed: [['helper', 'look']],
  twice: [['helper', 'helper2']],
  wire: [['wire']],
};

/** The answer of the stand-in: what comes next after what the request has. */
function stepFor(body: Record<string, unknown>): Step {
  const messages = body.messages as { role: string; content: unknown; tool_calls?: unknown[] }[];
  const isHelper = JSON.stringify(messages[0]).includes('You help.');
  const asks = messages.findLastIndex(({ role, content }) => role === 'user' && /P\d+/.test(JSON.stringify(content)));
  const [, point = '', plan = 'plain'] = /(P\d+\w*)(?: (\w+))?/.exec(JSON.stringify(messages[asks]?.content)) ?? [];
  const done = messages.slice(asks).filter(({ tool_calls }) => tool_calls !== undefined).length;
  const key = `${point} ${isHelper ? 'helper' : 'model'} ${done}`;
  asked.push(key);
  if (held.has(key)) return { silence: true };
  if (key === 'P22 model 0' && gate.isNew) {
    gate.isNew = false;
    return { reply: gate.chunks };
  }
  const names = (isHelper ? [['pay']] : (PLANS[plan] ?? []))[done];
  if (!names) return { reply: isHelper ? `Helped ${point}.` : `Done ${point}.` };
  const toolCalls = names.map((name, place) => ({
    id: `call_${point}_${done}_${place}`,
    name: name.startsWith('helper') ? 'delegate_to_helper' : name,
    arguments: JSON.stringify(
      name.startsWith('helper') ? { task: `${point}${name === 'helper2' ? 'b' : 'a'} pay` } : { city: point },
    ),
  }));
  return { reply: `Step ${done}.`, toolCalls };
}

const startProcess = async (role: 'all' | 'api' = 'all'): Promise<ServiceProcess> =>
  startService({
    DATABASE_URL: app.database.url,
    GUILDHALL_DATA_DIR: await freshFolder(),
    GUILDHALL_ROLE: role,
    GUILDHALL_RATE_LIMIT: '0',
    GUILDHALL_ALLOW_PRIVATE_NETWORK: 'true',
    OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-1',
    OPENAI_COMPATIBLE_MODELS: 'local-model',
  });

/** What the passing of twenty seconds does. */
const leasesRunOut = () =>
  sql`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`.execute(
    app.workspace.db,
  );

/** An agent with tools, one that needs an approval, and a sub-agent. */
async function workingAgent(): Promise<string> {
  const tool = async (path: string, fields = {}) => ({
    kind: 'http_tool' as const,
    id: (await postTool(app, tools, path, { name: path.slice(1), ...fields })).publicId,
  });
  const [pay, look] = [await tool('/pay'), await tool('/look')];
  const wire = await tool('/wire', { requiresApproval: true });
  const helper = await agentWith(app, [pay], { name: 'helper', systemPrompt: 'You help.' });
  const sub = { kind: 'sub_agent' as const, id: helper, change: { description: 'Helps.' } };
  return agentWith(app, [pay, look, wire, sub]);
}

/** Where each turn is when its process is killed, and the calls of which the model must hear that their outcome is not known. */
const POINTS: { say: string; at: string[]; unknown?: string[]; stream?: true; keyed?: true }[] = [
  { say: 'P1 plain', at: ['P1 model 0'] },
  { say: 'P2 pay', at: ['P2 model 0'] },
  { say: 'P3 pay', at: ['P3 pay'], unknown: ['P3 pay'] },
  { say: 'P4 pay', at: ['P4 model 1'] },
  { say: 'P5 both', at: ['P5 pay'], unknown: ['P5 pay'] },
  { say: 'P6 both', at: ['P6 look'], unknown: ['P6 look'] },
  { say: 'P7 both', at: ['P7 pay', 'P7 look'], unknown: ['P7 pay', 'P7 look'] },
  { say: 'P8 both', at: ['P8 model 1'] },
  { say: 'P9 two', at: ['P9 model 1'] },
  { say: 'P10 two', at: ['P10 look'], unknown: ['P10 look'] },
  { say: 'P11 two', at: ['P11 model 2'] },
  { say: 'P12 help', at: ['P12a helper 0'] },
  { say: 'P13 help', at: ['P13a pay'], unknown: ['P13a pay'] },
  { say: 'P14 help', at: ['P14a helper 1'] },
  { say: 'P15 help', at: ['P15 model 1'] },
  { say: 'P16 mixed', at: ['P16a pay'], unknown: ['P16a pay'] },
  { say: 'P17 mixed', at: ['P17 look', 'P17a helper 1'], unknown: ['P17 look'] },
  { say: 'P18 twice', at: ['P18a helper 0', 'P18b helper 1'] },
  { say: 'P19 pay', at: ['P19 model 1'], stream: true },
  { say: 'P20 both', at: ['P20 look'], unknown: ['P20 look'], keyed: true },
  { say: 'P21 pay', at: ['P21 model 1'], keyed: true, stream: true },
];

test('kill -9 at every point of a turn: it goes on, no tool is called twice, and there is one reply', async () => {
  const agentId = await workingAgent();
  const [first, other] = await Promise.all([startProcess(), startProcess('api')]);
  const { apiKey } = app.workspace;
  const send = ({ origin }: ServiceProcess, { say, stream, keyed }: (typeof POINTS)[number], idempotencyKey: string) =>
    call(
      origin,
      apiKey,
      'POST',
      `/agents/${agentId}/messages${stream ? '/stream' : ''}`,
      { content: say, externalUserId: say.split(' ')[0], timeoutSeconds: 120 },
      keyed ? { 'Idempotency-Key': idempotencyKey } : {},
    ).then((response) => response.text());
  for (const { at } of POINTS) for (const key of at) held.add(key);
  const keys = POINTS.map(() => randomUUID());
  const lost = POINTS.map((point, place) => send(first, point, keys[place] ?? '').catch(() => 'lost'));
  await poll(
    () => POINTS.flatMap(({ at }) => at).filter((key) => !asked.includes(key)),
    (missing) => missing.length === 0,
  );
  // What ended beside the calls that are under way is stored.
  await poll(
    async () =>
      (
        await sql<{
          count: number;
        }>`select count(*)::int as count from turn_steps where kind = 'tool' and status = 'running'
      and state #>> '{origin,kind}' <> 'sub_agent'`.execute(app.workspace.db)
      ).rows[0]?.count,
    (count) => count === POINTS.flatMap(({ unknown = [] }) => unknown).length,
  );

  // One turn is about to store its reply: its statement waits for the row, and PostgreSQL does not know that its process is dead.
  const last = send(first, { say: 'P22 plain', at: [] }, '').catch(() => 'lost');
  await poll(
    () => asked.includes('P22 model 0'),
    (is) => is,
  );
  const holder = new pg.Client({ connectionString: app.database.url, options: '-c role=guildhall_system' });
  await holder.connect();
  await holder.query(`begin; select from conversations where external_user_id = 'P22' for update`);
  gate.push('Done P22.');
  gate.end();
  const waits = `select from pg_stat_activity where datname = '${app.database.name}' and wait_event_type = 'Lock' and query like '%follow_ups_sent%'`;
  await poll(
    async () => (await adminQuery(waits)).length,
    (count) => count === 1,
  );
  held.clear();
  first.child.kill('SIGKILL');
  await first.ended;
  for (const each of [...lost, last]) expect(await each).not.toContain('Done');
  await holder.query('commit');
  await holder.end();
  await leasesRunOut();
  await sql`update idempotency_keys set claimed_until = now() - interval '1 second' where claim_id is not null`.execute(
    app.workspace.db,
  );
  // One that comes before anybody has found the turn, at a process without background work.
  const [retry, streamed] = await Promise.all(
    POINTS.flatMap((point, place) => (point.keyed ? [send(other, point, keys[place] ?? '')] : [])),
  );
  expect(JSON.parse(retry ?? '')).toMatchObject({ messages: [{ role: 'assistant', content: 'Step 0.\n\nDone P20.' }] });
  expect(streamed).toContain('Done P21.');
  expect(streamed).toContain('event: debug-info');

  await startProcess();
  const rows = await poll(
    () =>
      app.workspace.db
        .selectFrom('turns')
        .innerJoin('conversations', 'conversations.id', 'turns.conversation_id')
        .select([
          'turns.id as id',
          'turns.status as status',
          'error_message',
          'conversation_id',
          'external_user_id',
          'turns.input_tokens as tokens',
        ])
        .select(['conversations.input_tokens as sum', 'turns.request as request'])
        .where('turns.agent_id', '=', agentId)
        .execute(),
    (found) => found.length === POINTS.length + 1 && found.every(({ status }) => status !== 'running'),
  );
  for (const { say, unknown = [] } of [...POINTS, { say: 'P22 plain' } as (typeof POINTS)[number]]) {
    const [point = '', plan = ''] = say.split(' ');
    const turn = rows.find(({ external_user_id }) => external_user_id === point);
    expect([point, turn?.status, turn?.error_message]).toEqual([point, 'done', null]);
    const conversationId = turn?.conversation_id ?? '';
    const steps = (PLANS[plan] ?? []).map((_, place) => `Step ${place}.\n\n`).join('');
    expect(await transcript(app, conversationId)).toEqual([`user: ${say}`, `assistant: ${steps}Done ${point}.`]);
    // The tokens of both attempts count: of each answer that was stored.
    const stored = await stepsOf(app, conversationId);
    const answers = stored.filter(({ kind, status }) => kind === 'model' && status === 'done').length;
    expect([point, turn?.tokens, turn?.sum]).toEqual([point, 11 * answers, 11 * answers]);
    expect(stored.filter(({ status }) => status === 'running')).toEqual([]);
    expect(turn?.request).toBeNull();
    for (const key of unknown) {
      const [asker = '', tool] = key.split(' ');
      const told = server.requests.filter(({ body }) => {
        const text = JSON.stringify(body);
        return text.includes('Whether it was made is not known.') && text.includes(`${asker} `);
      });
      expect([key, tool, told.length > 0]).toEqual([key, tool, true]);
    }
  }
  const calls = asked.filter((key) => !key.includes('model') && !key.includes('helper'));
  expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());
  const { rows: used } = await sql`select operations::int from operation_usage`.execute(app.workspace.db);
  expect(used).toEqual([{ operations: POINTS.length + 1 }]);
});
