// Longer than most: the tests of pools, roles, prepared statements and broken connections share one pair of workspaces.
import { sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import { connectDatabase, type Database } from '../../db/connect.ts';
import { databaseFault } from '../../db/errors.ts';
import { inTransaction } from '../../db/transaction.ts';
import { tapDatabase } from '../../scripts/bench/wire.ts';
import {
  adminQuery,
  createTestDatabase,
  findLeaks,
  type SeededWorkspace,
  type TestDatabase,
} from '../support/db/database.ts';

let setting: TestDatabase;
let ours: SeededWorkspace;
let theirs: SeededWorkspace;
const opened: Database[] = [];

function open(options: Parameters<typeof connectDatabase>[1] = {}): Database {
  const database = connectDatabase(setting.url, options);
  opened.push(database);
  return database;
}

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace();
  theirs = await setting.seedWorkspace();
  for (const { db, workspaceId } of [ours, theirs]) {
    await db.insertInto('agents').values({ workspace_id: workspaceId, id: newId(), name: 'Ada' }).execute();
  }
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.end()));
});

afterAll(() => setting.drop());

const backendOf = async (db: SeededWorkspace['db']) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;

describe('handles of workspaces', () => {
  test('can share one connection in turns, and each sees its own rows only', async () => {
    const database = open({ poolSize: 1 });
    const seen = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { workspaceId } = index % 3 === 0 ? ours : theirs;
        const rows = await database.forWorkspace(workspaceId).selectFrom('agents').select('workspace_id').execute();
        return { workspaceId, rows };
      }),
    );
    for (const { workspaceId, rows } of seen) expect(rows).toEqual([{ workspace_id: workspaceId }]);
    expect(database.usage().total).toBe(1);
  });

  test('are the same object for the same workspace', () => {
    const database = open();
    expect(database.forWorkspace(ours.workspaceId)).toBe(database.forWorkspace(ours.workspaceId));
  });

  test('keep the workspace through a transaction that rolls back', async () => {
    const db = open({ poolSize: 1 }).forWorkspace(ours.workspaceId);
    await expect(
      db.transaction().execute(async (transaction) => {
        await transaction.selectFrom('agents').selectAll().execute();
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await db.selectFrom('agents').select('workspace_id').execute()).toEqual([
      { workspace_id: ours.workspaceId },
    ]);
  });

  test('ask in one round trip, whichever workspace the connection served before', async () => {
    const tap = await tapDatabase(setting.url);
    const database = connectDatabase(tap.url, { poolSize: 1 });
    opened.push(database);
    const ask = async (workspace: SeededWorkspace) => {
      const db = database.forWorkspace(workspace.workspaceId);
      return await tap.during(async () => void (await db.selectFrom('agents').selectAll().execute()));
    };
    await ask(ours);
    for (const next of [theirs, ours, ours]) {
      expect(await ask(next)).toEqual({ statements: [{ text: 'select * from "agents"', values: [] }], roundTrips: 1 });
    }
    const { roundTrips } = await tap.during(async () => {
      await database
        .forWorkspace(theirs.workspaceId)
        .transaction()
        .execute((transaction) => transaction.selectFrom('agents').selectAll().execute());
    });
    expect(roundTrips).toBe(2);
    await tap.close();
  });

  test('set role, workspace and time limit in each transaction', async () => {
    const db = open({ poolSize: 1 }).forWorkspace(ours.workspaceId);
    const asked = sql<{ role: string; workspace: string; timeout: string }>`select current_user as role,
      current_setting('app.workspace_id') as workspace, current_setting('statement_timeout') as timeout`;
    const inside = { role: 'guildhall_app', workspace: ours.workspaceId, timeout: '30s' };
    expect((await asked.execute(db)).rows).toEqual([inside]);
    await db.transaction().execute(async (transaction) => {
      expect((await asked.execute(transaction)).rows).toEqual([inside]);
      expect((await asked.execute(transaction)).rows).toEqual([inside]);
    });
  });

  test('leave the options of the URL as they are', async () => {
    const address = new URL(setting.url);
    address.searchParams.set('options', '-c work_mem=5MB');
    const database = connectDatabase(address.href);
    opened.push(database);
    const asked = sql<{
      role: string;
      memory: string;
    }>`select current_user as role, current_setting('work_mem') as memory`;
    const { rows } = await asked.execute(database.forWorkspace(ours.workspaceId));
    expect(rows).toEqual([{ role: 'guildhall_app', memory: '5MB' }]);
    expect((await asked.execute(database.system)).rows[0]?.role).toBe('guildhall_system');
  });
});

describe('values', () => {
  test('int8 and numeric are numbers, timestamps Dates, dates and times text', async () => {
    const { rows } = await sql`select 9007199254740991::int8 as big, 0.0000012345::numeric as cost,
      '2026-02-03T04:05:06.789Z'::timestamptz as at, '2026-02-03'::date as day, '14:30:00'::time as time`.execute(
      ours.db,
    );
    expect(rows).toEqual([
      {
        big: 9007199254740991,
        cost: 0.0000012345,
        at: new Date('2026-02-03T04:05:06.789Z'),
        day: '2026-02-03',
        time: '14:30:00',
      },
    ]);
  });
});

describe('a backend that dies', () => {
  test('during a query fails only that query, with 503', async () => {
    const errors: Error[] = [];
    const database = open({ poolSize: 1, onConnectionError: (error) => errors.push(error) });
    const db = database.forWorkspace(ours.workspaceId);
    const pid = await backendOf(db);
    const sleeping = sql`select pg_sleep(30)`.execute(db);
    await adminQuery(`select pg_terminate_backend(${pid})`);
    const failure = await sleeping.catch((error: unknown) => error);
    expect(databaseFault(failure)).toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    expect(await db.selectFrom('agents').selectAll().execute()).toHaveLength(1);
    expect(await backendOf(db)).not.toBe(pid);
  });

  test('in an idle client that is checked out does not end the process, and the transaction fails', async () => {
    const { promise: broken, resolve } = Promise.withResolvers<Error>();
    const db = open({ poolSize: 1, onConnectionError: resolve }).forWorkspace(ours.workspaceId);
    const transaction = db.transaction().execute(async (inner) => {
      const pid = await backendOf(inner);
      await adminQuery(`select pg_terminate_backend(${pid})`);
      await broken;
      await inner.selectFrom('agents').selectAll().execute();
    });
    expect(databaseFault(await transaction.catch((error: unknown) => error))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await db.selectFrom('agents').selectAll().execute()).toHaveLength(1);
  });

  test('in an idle connection of the pool is replaced', async () => {
    const { promise: broken, resolve } = Promise.withResolvers<Error>();
    const db = open({ poolSize: 1, onConnectionError: resolve }).forWorkspace(ours.workspaceId);
    await adminQuery(`select pg_terminate_backend(${await backendOf(db)})`);
    await broken;
    expect(await db.selectFrom('agents').selectAll().execute()).toHaveLength(1);
  });
});

describe('limits', () => {
  test('a statement that exceeds its timeout is cancelled on the server and fails with 503', async () => {
    const db = open({ statementTimeoutMs: 50 }).forWorkspace(ours.workspaceId);
    const failure = await sql`select pg_sleep(30)`.execute(db).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: '57014' });
    expect(databaseFault(failure)).toMatchObject({
      code: 'UNAVAILABLE',
      headers: { 'Retry-After': expect.any(String) },
    });
  });

  test('an unreachable database gives 503, for queries and ping', async () => {
    const database = connectDatabase('postgres://nobody:x@127.0.0.1:1/none');
    opened.push(database);
    const failure = await database.system
      .selectFrom('workspaces')
      .selectAll()
      .execute()
      .catch((error: unknown) => error);
    expect(databaseFault(failure)).toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    await expect(database.ping()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('ping succeeds while the database responds', async () => {
    await expect(open().ping()).resolves.toBeUndefined();
  });
});

describe('prepared statements', () => {
  const prepared = async (db: SeededWorkspace['db']) =>
    (await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(db)).rows.map(
      (row) => row.statement,
    );

  test('are made for repeated queries, and not when switched off', async () => {
    const on = open({ poolSize: 1 }).forWorkspace(ours.workspaceId);
    const off = open({ poolSize: 1, prepare: false }).forWorkspace(ours.workspaceId);
    for (const db of [on, off, on, off, on, off]) await db.selectFrom('agents').select(['id', 'name']).execute();
    expect(await prepared(on)).toContain('select "id", "name" from "agents"');
    expect(await prepared(off)).toEqual([]);
  });

  test('are limited in number for each connection', async () => {
    const db = open({ poolSize: 1 }).forWorkspace(ours.workspaceId);
    for (let width = 1; width <= 300; width += 1) {
      for (let time = 0; time < 2; time += 1) await sql.raw(`select ${width} as n`).execute(db);
    }
    const names = await prepared(db);
    expect(names.length).toBeGreaterThan(100);
    expect(names.length).toBeLessThanOrEqual(250);
  });

  test('still work after a migration that changes their columns', async () => {
    const db = open({ poolSize: 1 }).forWorkspace(ours.workspaceId);
    for (let time = 0; time < 3; time += 1) await db.selectFrom('ai_models').selectAll().execute();
    await adminQuery('alter table ai_models add column later text', setting.name);
    expect(await db.selectFrom('ai_models').selectAll().execute()).toEqual([]);
    for (let time = 0; time < 3; time += 1) await db.selectFrom('ai_models').selectAll().execute();
    await adminQuery('alter table ai_models drop column later', setting.name);
    const runs: number[] = [];
    await inTransaction(db, async (transaction) => {
      runs.push(1);
      await transaction.selectFrom('ai_models').selectAll().execute();
    });
    expect(runs).toHaveLength(2);
  });
});

describe('inTransaction', () => {
  test('retries after a deadlock, and both transactions succeed', async () => {
    const ids = [newId(), newId()].sort();
    for (const id of ids) {
      await ours.db.insertInto('agents').values({ workspace_id: ours.workspaceId, id, name: id }).execute();
    }
    const together = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runs = 0;
    const touch = (order: string[], mine: number) =>
      inTransaction(ours.db, async (transaction) => {
        runs += 1;
        for (const [index, id] of order.entries()) {
          await transaction.updateTable('agents').set({ description: 'x' }).where('id', '=', id).execute();
          if (index === 0) {
            together[mine]?.resolve();
            await together[1 - mine]?.promise;
          }
        }
      });
    await Promise.all([touch(ids, 0), touch([...ids].reverse(), 1)]);
    expect(runs).toBe(3);
  });

  test('fails with the error after its last retry, and leaves no transaction open', async () => {
    let runs = 0;
    const work = inTransaction(
      ours.db,
      async (transaction) => {
        runs += 1;
        await sql`do $$ begin raise exception using errcode = '40001'; end $$`.execute(transaction);
      },
      { retries: 1 },
    );
    await expect(work).rejects.toMatchObject({ code: '40001' });
    expect(runs).toBe(2);
    expect(await findLeaks(setting.name)).toEqual([]);
  });
});

describe('listen', () => {
  test('receives notifications, reconnects when its connection dies, and reports that some may be missing', async () => {
    const database = open({ applicationName: 'listening' });
    const heard: string[] = [];
    let next = Promise.withResolvers<void>();
    const gap = Promise.withResolvers<void>();
    await database.listen(
      'news',
      (payload) => {
        heard.push(payload);
        next.resolve();
      },
      () => gap.resolve(),
    );
    const notify = async (text: string) => {
      next = Promise.withResolvers<void>();
      await sql`select pg_notify('news', ${text})`.execute(setting.database.system);
      await next.promise;
    };
    await notify('one');
    await adminQuery("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listening'");
    await gap.promise;
    await notify('two');
    expect(heard).toEqual(['one', 'two']);
  });
});

describe('the leak check', () => {
  test('finds an open transaction and an advisory lock', async () => {
    const checked = await createTestDatabase();
    const { db } = await checked.seedWorkspace();
    const leak = await db.startTransaction().execute();
    await sql`select pg_advisory_lock(42)`.execute(leak);
    expect(await findLeaks(checked.name)).toEqual([
      expect.stringContaining('is idle in transaction'),
      expect.stringContaining('holds advisory lock 0/42'),
    ]);
    await sql`select pg_advisory_unlock(42)`.execute(leak);
    await leak.rollback().execute();
    await checked.drop();
  });
});
