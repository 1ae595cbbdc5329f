import { sql } from 'kysely';
import pg from 'pg';
import { connectDatabase } from '../../db/connect.ts';
import { findExecutionsToRun, findOldestExecutionTime } from '../../db/queries/automations/executionStates.ts';
import { findDueAutomations, findNextSlotTime } from '../../db/queries/automations/slots.ts';
import { dispatchSlots } from '../../domain/automations/dispatchSlots.ts';
import { type Statement, tapDatabase, type Wiretap } from '../../scripts/bench/wire.ts';
import { makeAgent } from '../support/agents/agents.ts';
import { storedAutomation } from '../support/automations/executions.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';

const DAY_MS = 86_400_000;
const MANY = 20_000;

let base: TestDatabase;
let tap: Wiretap;
let app: TestApp;
let planner: pg.Client;

beforeAll(async () => {
  base = await createTestDatabase();
  tap = await tapDatabase(base.url);
  app = await startTestApp({
    database: { ...base, url: tap.url, database: connectDatabase(tap.url, { poolSize: 2 }) },
  });
  planner = new pg.Client({ connectionString: base.url });
  await planner.connect();
  await planner.query('set role guildhall_system; set plan_cache_mode = force_generic_plan');
});
afterAll(async () => {
  await planner.end();
  await app.close();
  await app.database.database.end();
  await tap.close();
  await base.drop();
});

/** The plan of a statement that is kept, whatever its values. */
async function planOf({ text, values }: Statement): Promise<string> {
  await planner.query(`prepare planned as ${text}`);
  try {
    const list = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(value))).join(', ');
    const { rows } = await planner.query(`explain execute planned${list === '' ? '' : `(${list})`}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await planner.query('deallocate planned');
  }
}

test('what is due among many is found by indexes, while the planner has no statistics', async () => {
  const agentId = (await makeAgent(app)).publicId;
  const { workspaceId, db } = app.workspace;
  await sql`insert into automations (workspace_id, id, agent_id, name, prompt, hitl_mode, trigger_mode, schedule, timezone, next_run_at, due_at)
    select ${workspaceId}, gen_random_uuid(), ${agentId}, 'Later ' || i, 'Go.', 'auto_approve', 'schedule', '0 9 * * *', 'UTC', later, later
    from generate_series(1, ${MANY}::int) i, lateral (select now() + i * interval '1 minute' + interval '1 day' as later) as due`.execute(
    db,
  );
  await sql`insert into automation_executions (workspace_id, id, automation_id, triggered_by, status, conversation_id, completed_at)
    select ${workspaceId}, gen_random_uuid(), (select id from automations limit 1), 'manual', 'COMPLETED', gen_random_uuid(), now()
    from generate_series(1, ${MANY}::int) i`.execute(db);
  const now = app.clock.now();
  await storedAutomation(app, agentId, { schedule: '0 9 * * *', nextRunAt: new Date(now.getTime() - 60_000) });
  const { database } = app.database;
  const { statements } = await tap.during(async () => {
    await findNextSlotTime(database.system, new Date(now.getTime() + DAY_MS));
    await findDueAutomations(database.system, now, 500);
    await findOldestExecutionTime(database.system, now);
    await findExecutionsToRun(database.system, { now, waitingSince: now, limit: 256 });
    await dispatchSlots({ database, clock: app.clock, dispatched: async () => {} }, new AbortController().signal);
  });
  const ours = statements.filter(({ text }) => /\bautomation/.test(text));
  expect(ours.length).toBeGreaterThanOrEqual(6);
  for (const statement of ours) expect(await planOf(statement)).not.toMatch(/Seq Scan on automation/);
  const claim = ours.find(({ text }) => text.includes('skip locked'));
  expect(claim && (await planOf(claim))).toContain('automation_executions_unended');
});
