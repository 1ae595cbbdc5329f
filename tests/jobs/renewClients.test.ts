import { pino } from 'pino';
import { connectDatabase } from '../../db/connect.ts';
import type { ClientRow } from '../../db/queries/clients/clients.ts';
import { findDueClients } from '../../db/queries/clients/clientsAnywhere.ts';
import { addMonths } from '../../domain/clients/period.ts';
import { startPlan } from '../../domain/clients/subscription.ts';
import { renewClients } from '../../jobs/renewClients.ts';
import { inOwn, setClient, waitingClient } from '../domain/clients/life.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';
import { storePlan } from '../support/hub/storedPlans.ts';

const START = new Date('2026-01-31T00:00:00.000Z');
const month = (count: number) => addMonths(START, count, 'UTC');
const logged: string[] = [];
const logger = pino({ level: 'error' }, { write: (line) => void logged.push(line) });

let setting: TestDatabase;
let workspace: SeededWorkspace;
beforeEach(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
  logged.splice(0);
});
afterEach(() => setting.drop());

/** Clients that began a monthly plan on 31 January. */
async function clientsOf(where: SeededWorkspace, count: number): Promise<ClientRow[]> {
  const plan = { id: await storePlan(where) };
  const clients = [];
  for (let i = 0; i < count; i += 1) {
    const client = await waitingClient(where);
    const start = { client, plan, now: START, key: 'create', status: 'active' as const };
    clients.push(await inOwn(where, (trx) => startPlan(trx, start)));
  }
  return clients;
}

const run = (now: Date, database = setting.database) =>
  renewClients.run({ database, clock: { now: () => now }, logger });
const endsOf = async (where: SeededWorkspace) =>
  (await where.db.selectFrom('clients').select('period_end').execute()).map((row) => row.period_end);

test('clients of every workspace are renewed, and the next run comes when the next is due', async () => {
  const other = await setting.seedWorkspace();
  await clientsOf(workspace, 2);
  await clientsOf(other, 1);
  expect(await run(START)).toEqual(month(1));
  expect(await run(month(1))).toEqual(month(2));
  expect([await endsOf(workspace), await endsOf(other)]).toEqual([[month(2), month(2)], [month(2)]]);
  expect(logged).toEqual([]);
});

test('workspaces take turns: one with many clients delays no other', async () => {
  const small = await setting.seedWorkspace();
  await clientsOf(workspace, 5);
  await clientsOf(small, 1);
  const { due } = await findDueClients(setting.database.system, month(1), { limit: 2, except: [] });
  expect(due.map(({ workspace_id: id }) => id).sort()).toEqual([workspace.workspaceId, small.workspaceId].sort());
});

test('a client that cannot be renewed delays no other, and stays due', async () => {
  const [broken] = await clientsOf(workspace, 3);
  if (!broken) throw new Error('three clients');
  await setClient(workspace, broken, { pending_plan_id: broken.plan_id, pending_plan_at: month(1) });
  await workspace.db
    .updateTable('plans')
    .set({ deleted_at: START })
    .where('id', '=', broken.plan_id ?? '')
    .execute();
  // The next run comes with the next interval, and not at once for the one that failed.
  expect(await run(month(1))).toEqual(month(2));
  const ends = await endsOf(workspace);
  expect(ends.map((end) => end?.getTime()).sort()).toEqual([month(1), month(2), month(2)].map((end) => end.getTime()));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain(broken.id);
});

test('three processes that lose their connections at any moment renew each period once', async () => {
  const clients = await clientsOf(workspace, 6);
  const processes = Array.from({ length: 3 }, () =>
    connectDatabase(setting.url, { poolSize: 2, applicationName: 'renewing' }),
  );
  let isOver = false;
  const killed = (async () => {
    while (!isOver)
      await adminQuery(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'renewing' and datname = '${setting.name}' and state <> 'idle' and random() < 0.5`);
  })();
  try {
    for (let round = 0; round < 3; round += 1) {
      await Promise.allSettled(processes.map((database) => run(month(6), database)));
    }
  } finally {
    isOver = true;
    await killed;
    await Promise.all(processes.map((database) => database.end()));
  }
  expect(logged.length).toBeGreaterThan(0);
  await run(month(6));
  expect(await endsOf(workspace)).toEqual(clients.map(() => month(7)));
  const rows = await workspace.db
    .selectFrom('credit_entries')
    .select(['client_id', 'key', 'amount'])
    .where('amount', '<>', 0)
    .execute();
  for (const { id } of clients) {
    const amounts = rows.filter((row) => row.client_id === id).map(({ amount }) => amount);
    expect(amounts.filter((amount) => amount > 0)).toEqual(Array.from({ length: 7 }, () => 100));
    expect(amounts.filter((amount) => amount < 0)).toEqual(Array.from({ length: 6 }, () => -100));
  }
});
