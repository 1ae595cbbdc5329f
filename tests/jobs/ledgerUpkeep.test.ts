import { sql } from 'kysely';
import { type DestinationStream, pino } from 'pino';
import { newId } from '../../core/ids.ts';
import { findStaleReservations } from '../../db/queries/credits/staleReservations.ts';
import { beginConversation } from '../../db/queries/turns/beginConversation.ts';
import { insertSteps } from '../../db/queries/turns/turnSteps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { balancesOf, grantCredits } from '../../domain/credits/credits.ts';
import { checkLedger, expireCredits, type LedgerWatch, releaseReservations } from '../../jobs/ledgerUpkeep.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';
import { makePayingClient } from '../support/hub/payingClients.ts';
import { interruptDead } from '../support/turns/interruptDead.ts';
import { stepRow } from '../support/turns/stepRow.ts';
import { turnStart } from '../support/turns/storedTurns.ts';

let setting: TestDatabase;
let workspace: SeededWorkspace;
let clientId: string;
let lines: Record<string, unknown>[];
let now: Date;
beforeAll(async () => {
  setting = await createTestDatabase();
});
afterAll(() => setting.drop());
beforeEach(async () => {
  workspace = await setting.seedWorkspace();
  clientId = await makePayingClient(workspace, { credits: 5 });
  lines = [];
  now = new Date('2026-03-01T00:00:00Z');
});

const stream: DestinationStream = { write: (line) => void lines.push(JSON.parse(line)) };
const context = () => ({
  database: setting.database,
  clock: { now: () => now, wait: async () => {} } as never,
  logger: pino({}, stream),
});
const account = async () =>
  await workspace.db
    .selectFrom('credit_accounts')
    .select(['included', 'extra', 'reserved', 'used_this_period as used'])
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();

/** A turn of the client that has begun, and whose process is gone. */
async function deadTurn(hasBudgets = false): Promise<ReturnType<typeof turnStart>> {
  const { workspaceId, db } = workspace;
  const payment = { payer: clientId, externalUserId: 'ada', hasBudgets };
  const start = turnStart({ workspaceId, conversationId: newId(), agentId: newId(), payment });
  await sql`insert into agents (workspace_id, id, name) values (${workspaceId}, ${start.agentId}, 'Agent')`.execute(db);
  await beginConversation(db, start, { externalUserId: 'ada', isTest: false, metadata: {} });
  expect(await account()).toMatchObject({ reserved: 1 });
  await sql`update credit_reservations set created_at = now() - interval '2 minutes' where workspace_id = ${workspaceId}`.execute(
    db,
  );
  return start;
}

const budget = async () =>
  await workspace.db
    .insertInto('budgets')
    .values({
      workspace_id: workspace.workspaceId,
      id: newId(),
      scope: 'workspace',
      target: workspace.workspaceId,
      unit: 'usd',
      amount: 5,
      estimate: 1,
      month: new Date().toISOString().slice(0, 10),
      created_at: new Date(),
    })
    .execute();

describe('what a dead turn had reserved', () => {
  test('is released with its turn, and what it cost in USD counts to the budgets', async () => {
    await budget();
    const turn = await deadTurn(true);
    const { conversationId } = turn;
    const step = stepRow({ input_tokens: 1, output_tokens: 1, cost_usd: 0.5 });
    await insertSteps(workspace.db, turn, [step]);
    await interruptDead(setting.database, new Date());
    expect(await account()).toMatchObject({ reserved: 1 });
    await sql`update conversations set turn_expires_at = now() - interval '1 second' where id = ${conversationId}`.execute(
      workspace.db,
    );
    await interruptDead(setting.database, new Date());
    expect(await account()).toEqual({ included: 5, extra: 0, reserved: 0, used: 0 });
    const budgets = await workspace.db.selectFrom('budgets').select(['used', 'reserved']).execute();
    expect(budgets).toEqual([{ used: 0.5, reserved: 0 }]);
  });

  test('is released by the sweep when its conversation is gone, and not while the turn holds it', async () => {
    const { conversationId } = await deadTurn();
    await releaseReservations.run(context());
    expect(await account()).toMatchObject({ reserved: 1 });
    await sql`delete from conversations where id = ${conversationId}`.execute(workspace.db);
    await releaseReservations.run(context());
    expect(await account()).toEqual({ included: 5, extra: 0, reserved: 0, used: 0 });
    expect(await findStaleReservations(setting.database.system, 10)).toEqual([]);
  });
});

describe('credits whose time has passed', () => {
  const grant = (source: 'grant' | 'extra' | 'plan', key: string, expiresAt: Date) =>
    inTransaction(workspace.db, (trx) =>
      grantCredits(trx, { workspaceId: workspace.workspaceId, clientId, source, amount: 3, key, expiresAt, now }),
    );

  test('are gone, but for those of a plan, which its renewal ends', async () => {
    const soon = new Date('2026-03-02T00:00:00Z');
    await grant('grant', 'g', soon);
    await grant('extra', 'e', soon);
    await grant('plan', 'p', soon);
    expect(await expireCredits.run(context())).toEqual(soon);
    expect(await account()).toMatchObject({ included: 11, extra: 3 });
    now = soon;
    await expireCredits.run(context());
    expect(await expireCredits.run(context())).toBeUndefined();
    expect(await account()).toMatchObject({ included: 8, extra: 0 });
    await checked(0);
  });
});

/** Runs the check. Expects as many differences of this workspace, and the same in the log; returns them. */
async function checked(count: number): Promise<Record<string, unknown>[]> {
  const watch: LedgerWatch = { differences: undefined };
  await checkLedger(watch).run(context());
  const found = lines.filter(({ workspaceId }) => workspaceId === workspace.workspaceId);
  expect(found).toHaveLength(count);
  expect(watch.differences).toBe(lines.length);
  return found;
}

describe('the check of the ledger', () => {
  test.each([
    ['credit_accounts', 'included = 6', 'included', 6, 5],
    ['credit_accounts', 'extra = 1', 'extra', 1, 0],
    ['credit_accounts', 'reserved = 1', 'reserved', 1, 0],
    ['credit_accounts', 'used_this_period = 2', 'used_this_period', 2, 0],
  ])('finds a changed sum: %s %s', async (table, change, what, stored, counted) => {
    await checked(0);
    await sql`update ${sql.table(table)} set ${sql.raw(change)} where client_id = ${clientId}`.execute(workspace.db);
    expect(await checked(1)).toMatchObject([{ clientId, lotId: null, what, stored, counted, level: 50 }]);
    // Nothing is mended.
    expect(await account()).not.toEqual({ included: 5, extra: 0, reserved: 0, used: 0 });
    await sql`update credit_accounts set included = 5, extra = 0, reserved = 0, used_this_period = 0 where client_id = ${clientId}`.execute(
      workspace.db,
    );
  });

  test('finds a changed lot, in the lot and in the sum of the account', async () => {
    await sql`update credit_lots set remaining = 4 where client_id = ${clientId}`.execute(workspace.db);
    expect(await checked(2)).toMatchObject([
      { what: 'included', stored: 5, counted: 4 },
      { what: 'remaining', stored: 4, counted: 5 },
    ]);
    expect((await balancesOf(workspace.db, workspace.workspaceId, [clientId])).get(clientId)).toMatchObject({
      included: 5,
    });
  });
});
