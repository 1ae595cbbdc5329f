import { sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import { connectDatabase, type Database } from '../../db/connect.ts';
import { databaseFault } from '../../db/errors.ts';
import { tapDatabase, type Wiretap } from '../../scripts/bench/wire.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';

/** Settings in the form that a coordinator of Citus passes on to its workers; to one PostgreSQL it means the same. */

let setting: TestDatabase;
let ours: SeededWorkspace;
let theirs: SeededWorkspace;
let tap: Wiretap;
let database: Database;

beforeAll(async () => {
  setting = await createTestDatabase();
  [ours, theirs] = [await setting.seedWorkspace(), await setting.seedWorkspace()];
  tap = await tapDatabase(setting.url);
  database = connectDatabase(tap.url, { poolSize: 1, citus: true, statementTimeoutMs: 20_000 });
  for (const { workspaceId } of [ours, theirs]) {
    const agent = { workspace_id: workspaceId, id: newId(), name: 'Ada' };
    await database.forWorkspace(workspaceId).insertInto('agents').values(agent).execute();
  }
});
afterAll(async () => {
  await database.end();
  await tap.close();
  await setting.drop();
});

const dbOf = ({ workspaceId }: SeededWorkspace) => database.forWorkspace(workspaceId);
const namesOf = async (workspace: SeededWorkspace) =>
  (await dbOf(workspace).selectFrom('agents').select(['workspace_id', 'name']).execute()).map(
    ({ workspace_id, name }) => [workspace_id, name],
  );
const open = () =>
  adminQuery(
    `select 1 from pg_stat_activity where datname = '${setting.name}' and state like 'idle in transaction%'`,
    setting.name,
  );

test('a statement travels in a block of its own, in one round trip', async () => {
  const { statements, roundTrips } = await tap.during(async () => void (await namesOf(theirs)));
  expect(roundTrips).toBe(1);
  expect(statements.map(({ text }) => text)).toEqual([
    'begin',
    'set local role guildhall_app',
    `set local app.workspace_id = '${theirs.workspaceId}'`,
    'set local statement_timeout = 20000',
    'select "workspace_id", "name" from "agents"',
    'commit',
  ]);
});

test('each workspace sees its own rows, and nothing stays on the connection', async () => {
  for (const workspace of [ours, theirs, ours])
    expect(await namesOf(workspace)).toEqual([[workspace.workspaceId, 'Ada']]);
  const asked = sql`select current_user as role, current_setting('app.workspace_id') as workspace,
    current_setting('statement_timeout') as timeout`;
  const inside = { role: 'guildhall_app', workspace: ours.workspaceId, timeout: '20s' };
  expect((await asked.execute(dbOf(ours))).rows).toEqual([inside]);
  await dbOf(ours)
    .transaction()
    .execute(async (transaction) => {
      expect((await asked.execute(transaction)).rows).toEqual([inside]);
      expect((await asked.execute(transaction)).rows).toEqual([inside]);
    });
  expect(await open()).toEqual([]);
});

test('what a statement writes is stored, and its count and rows are its own', async () => {
  const renamed = await dbOf(ours).updateTable('agents').set({ description: 'New' }).returning('description').execute();
  expect(renamed).toEqual([{ description: 'New' }]);
  const { numUpdatedRows } = await dbOf(ours)
    .updateTable('agents')
    .set({ description: 'Newer' })
    .executeTakeFirstOrThrow();
  expect(numUpdatedRows).toBe(1n);
  const read = await dbOf(ours).selectFrom('agents').select('description').execute();
  expect(read).toEqual([{ description: 'Newer' }]);
});

test('a statement that fails stores nothing, and the connection goes on', async () => {
  const agent = { workspace_id: ours.workspaceId, id: newId(), name: 'Ada' };
  await expect(dbOf(ours).insertInto('agents').values(agent).execute()).rejects.toMatchObject({ code: '23505' });
  expect(await open()).toEqual([]);
  const { roundTrips } = await tap.during(async () => expect(await namesOf(ours)).toHaveLength(1));
  expect(roundTrips).toBe(1);
});

test('a commit that fails fails the statement', async () => {
  await adminQuery(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'too late'; end $$;
     create constraint trigger late after insert on agents deferrable initially deferred for each row execute function refuse()`,
    setting.name,
  );
  try {
    const agent = { workspace_id: ours.workspaceId, id: newId(), name: 'Late' };
    await expect(dbOf(ours).insertInto('agents').values(agent).execute()).rejects.toThrow('too late');
  } finally {
    await adminQuery('drop trigger late on agents; drop function refuse()', setting.name);
  }
  expect(await namesOf(ours)).toEqual([[ours.workspaceId, 'Ada']]);
});

test('the time limit holds', async () => {
  const hasty = connectDatabase(setting.url, { poolSize: 1, citus: true, statementTimeoutMs: 100 });
  const db = hasty.forWorkspace(ours.workspaceId);
  const error: unknown = await sql`select pg_sleep(30)`.execute(db).catch((thrown: unknown) => thrown);
  expect(databaseFault(error)?.code).toBe('UNAVAILABLE');
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  await hasty.end();
});

test('a transaction that fails is rolled back, and one that ends is stored', async () => {
  const write = (name: string) =>
    dbOf(theirs)
      .transaction()
      .execute(async (transaction) => {
        await transaction.updateTable('agents').set({ name }).execute();
        if (name === 'Eve') throw new Error('No.');
      });
  await expect(write('Eve')).rejects.toThrow('No.');
  expect(await namesOf(theirs)).toEqual([[theirs.workspaceId, 'Ada']]);
  await write('Bea');
  expect(await namesOf(theirs)).toEqual([[theirs.workspaceId, 'Bea']]);
  expect(await namesOf(ours)).toEqual([[ours.workspaceId, 'Ada']]);
});
