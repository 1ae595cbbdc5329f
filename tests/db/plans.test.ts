import pg from 'pg';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { insertBudget } from '../../db/queries/credits/budgets.ts';
import { type Statement, tapDatabase, type Wiretap } from '../../scripts/bench/wire.ts';
import { send } from '../http/messages/turns.ts';
import { makeReadyAgent, publish } from '../support/agents/agents.ts';
import { createTestDatabase, type TestDatabase } from '../support/db/database.ts';
import { startTestApp, type TestApp } from '../support/http/app.ts';
import { makePayingClient } from '../support/hub/payingClients.ts';

/** Indexes that have all rows of a workspace in the order of a list or a sum. */
const OF_LISTS = /\b(agents_list|conversations_(list|of_agent|of_user|last_message)|turns_of_(month|conversation))\b/;

let base: TestDatabase;
let tap: Wiretap;
let app: TestApp;
/** The owner of the tables; its plans are made as those of requests. */
let planner: pg.Client;

beforeAll(async () => {
  base = await createTestDatabase();
  tap = await tapDatabase(base.url);
  app = await startTestApp({
    database: { ...base, url: tap.url, database: connectDatabase(tap.url, { poolSize: 2 }) },
  });
  planner = new pg.Client({ connectionString: base.url });
  await planner.connect();
  await planner.query(`set role guildhall_app; set plan_cache_mode = force_generic_plan`);
  await planner.query(`select set_config('app.workspace_id', $1, false)`, [app.workspace.workspaceId]);
});
afterAll(async () => {
  await planner.end();
  await app.close();
  await app.database.database.end();
  await tap.close();
  await base.drop();
});

/** The plan that is kept for the statement, whatever its values. */
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

describe('while the planner knows nothing of a workspace', () => {
  test('the statements of a message, of an agent and of a conversation find rows by their keys', async () => {
    const { publicId } = await makeReadyAgent(app);
    await publish(app, publicId);
    const { statements } = await tap.during(async () => {
      const { body } = await send(app, publicId, { content: 'Hello.' }).expect(200);
      await send(app, publicId, { content: 'Again.', conversationId: body.conversationId }).expect(200);
      await app.api('get', `/agents/${publicId}`).expect(200);
      await app.api('get', `/conversations/${body.conversationId}`).expect(200);
    });
    const ours = statements.filter(({ text }) => /\b(agents|conversations|turns)\b/.test(text));
    expect(ours.length).toBeGreaterThan(4);
    for (const statement of ours) expect(await planOf(statement)).not.toMatch(OF_LISTS);
  });

  test('the statements of a message that a client pays for, within budgets, find rows by their keys', async () => {
    const { db, workspaceId } = app.workspace;
    const { publicId } = await makeReadyAgent(app);
    await publish(app, publicId);
    const clientPublicId = await makePayingClient(app.workspace, { credits: 5 });
    const budget = { scope: 'agent', target: publicId, unit: 'usd', amount: 5, now: new Date() } as const;
    await insertBudget(db, workspaceId, budget);
    const { statements } = await tap.during(async () => {
      const { body } = await send(app, publicId, { content: 'Hello.', metadata: { clientPublicId } }).expect(200);
      await send(app, publicId, { content: 'Again.', conversationId: body.conversationId }).expect(200);
      await send(app, publicId, { content: 'Over.', metadata: { clientPublicId: newId() } }).expect(400);
    });
    const paying = statements.filter(({ text }) => /\bcredit_(accounts|lots|entries|reservations)\b/.test(text));
    expect(paying.length).toBeGreaterThan(4);
    for (const statement of paying) {
      const plan = await planOf(statement);
      expect(plan).not.toMatch(OF_LISTS);
      expect(plan).not.toMatch(
        /Seq Scan on (credit_|budgets|clients)|clients_list|credit_entries_list|credit_lots_expiring/,
      );
    }
  });

  test.each(['turns', 'conversations', 'agents'])('foreign keys find rows of %s by their keys', async (table) => {
    const text = `select 1 from only ${table} x where workspace_id = $1 and id = $2 for key share of x`;
    const { workspaceId } = app.workspace;
    const plan = await planOf({ text, values: [workspaceId, workspaceId] });
    expect(plan).toContain(`${table}_pkey`);
  });
});
