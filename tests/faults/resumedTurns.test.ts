import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { transcript } from '../http/messages/turns.ts';
import { stepsOf } from '../support/agents/runtimeAgents.ts';
import { adminQuery } from '../support/db/database.ts';
import type { TestApp } from '../support/http/app.ts';
import { poll } from '../support/poll.ts';
import { call, cleanUp, type ServiceProcess } from './service.ts';
import { openWorkshop, PLANS, type Workshop } from './workshop.ts';

let shop: Workshop;
let app: TestApp;

beforeAll(async () => {
  shop = await openWorkshop();
  ({ app } = shop);
  await sql`update workspaces set operation_limit = 1000, turn_limit = 1000 where id = ${app.workspace.workspaceId}`.execute(
    app.database.database.system,
  );
});
afterEach(cleanUp);
afterAll(() => shop.close());

/** What the passing of twenty seconds does. */
const leasesRunOut = () =>
  sql`update conversations set turn_expires_at = now() - interval '1 second' where turn_id is not null`.execute(
    app.workspace.db,
  );

/** Where each turn is when its process is killed, and the calls of which the model must hear that their outcome is not known. */
const POINTS: { say: string; at: string[]; unknown?: string[]; stream?: true; keyed?: true }[] = [
  { say: 'K1 plain', at: ['K1 model 0'] },
  { say: 'K2 pay', at: ['K2 model 0'] },
  { say: 'K3 pay', at: ['K3 pay'], unknown: ['K3 pay'] },
  { say: 'K4 pay', at: ['K4 model 1'] },
  { say: 'K5 both', at: ['K5 pay'], unknown: ['K5 pay'] },
  { say: 'K6 both', at: ['K6 look'], unknown: ['K6 look'] },
  { say: 'K7 both', at: ['K7 pay', 'K7 look'], unknown: ['K7 pay', 'K7 look'] },
  { say: 'K8 both', at: ['K8 model 1'] },
  { say: 'K9 two', at: ['K9 model 1'] },
  { say: 'K10 two', at: ['K10 look'], unknown: ['K10 look'] },
  { say: 'K11 two', at: ['K11 model 2'] },
  { say: 'K12 payhelp', at: ['K12a helper 0'] },
  { say: 'K13 payhelp', at: ['K13a pay'], unknown: ['K13a pay'] },
  { say: 'K14 payhelp', at: ['K14a helper 1'] },
  { say: 'K15 payhelp', at: ['K15 model 1'] },
  { say: 'K16 mixed', at: ['K16a pay'], unknown: ['K16a pay'] },
  { say: 'K17 mixed', at: ['K17 look', 'K17a helper 1'], unknown: ['K17 look'] },
  { say: 'K18 twice', at: ['K18a helper 0', 'K18b helper 1'] },
  { say: 'K19 pay', at: ['K19 model 1'], stream: true },
  { say: 'K20 both', at: ['K20 look'], unknown: ['K20 look'], keyed: true },
  { say: 'K21 pay', at: ['K21 model 1'], keyed: true, stream: true },
];

test('kill -9 at every point of a turn: it goes on, no tool is called twice, and there is one reply', async () => {
  const { held, asked, late, server } = shop;
  const agentId = await shop.agent();
  const [first, other] = await Promise.all([shop.startProcess(), shop.startProcess({ GUILDHALL_ROLE: 'api' })]);
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
  const gate = Promise.withResolvers<void>();
  late.set('K22 model 0', gate.promise);
  const last = send(first, { say: 'K22 plain', at: [] }, '').catch(() => 'lost');
  await poll(
    () => asked.includes('K22 model 0'),
    (is) => is,
  );
  const holder = new pg.Client({ connectionString: app.database.url, options: '-c role=guildhall_system' });
  await holder.connect();
  await holder.query(`begin; select from conversations where external_user_id = 'K22' for update`);
  gate.resolve();
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
  expect(JSON.parse(retry ?? '')).toMatchObject({ messages: [{ role: 'assistant', content: 'Step 0.\n\nDone K20.' }] });
  expect(streamed).toContain('Done K21.');
  expect(streamed).toContain('event: debug-info');

  await shop.startProcess();
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
  for (const { say, unknown = [] } of [...POINTS, { say: 'K22 plain' } as (typeof POINTS)[number]]) {
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
  const calls = shop.calls();
  expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());
  const { rows: used } = await sql`select operations::int from operation_usage`.execute(app.workspace.db);
  expect(used).toEqual([{ operations: POINTS.length + 1 }]);
});
