import { sql } from 'kysely';
import { connectDatabase, type Database } from '../../db/connect.ts';
import { ConnectionPlaces } from '../../db/connectionPlaces.ts';
import { databaseFault } from '../../db/errors.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';

describe('places', () => {
  /** Takes as many places as there are for a workspace, at most 50, and returns their number. */
  function takeAll(places: ConnectionPlaces, workspaceId: string): number {
    let taken = 0;
    while (taken < 50) {
      const turn = places.take(workspaceId);
      if (turn) {
        turn.catch(() => {});
        return taken;
      }
      taken += 1;
    }
    return taken;
  }

  test.each([
    [1, [1]],
    [2, [2, 0]],
    [16, [12, 3, 1, 0]],
    [20, [15, 3, 2, 0]],
  ])('of %i are left for others when workspaces come one after the other: %j', (size, expected) => {
    const places = new ConnectionPlaces(size, 10);
    expect(expected.map((_, index) => takeAll(places, String(index)))).toEqual(expected);
  });

  test('go to workspaces in turns, whoever waits with how many', async () => {
    const places = new ConnectionPlaces(1, 10_000);
    places.take('busy');
    const order: string[] = [];
    const wait = (workspaceId: string) =>
      places.take(workspaceId)?.then(() => {
        order.push(workspaceId);
      });
    const all = [...Array.from({ length: 5 }, () => wait('busy')), wait('second'), wait('second'), wait('third')];
    for (let served = 0; served < all.length; served += 1) {
      const holder = order.at(-1) ?? 'busy';
      places.leave(holder);
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    expect(order).toEqual(['busy', 'second', 'third', 'busy', 'second', 'busy', 'busy', 'busy']);
    expect(places.waiting).toBe(0);
  });

  test('are not waited for without end, and who gave up takes none', async () => {
    const places = new ConnectionPlaces(1, 5);
    places.take('a');
    const error = await places.take('b')?.catch((thrown: unknown) => thrown);
    expect(databaseFault(error)).toMatchObject({ code: 'UNAVAILABLE' });
    expect(places.waiting).toBe(0);
    places.leave('a');
    expect(places.take('c')).toBeUndefined();
  });
});

describe('connections', () => {
  let setting: TestDatabase;
  let ours: SeededWorkspace;
  let theirs: SeededWorkspace;
  let database: Database;
  beforeAll(async () => {
    setting = await createTestDatabase();
    ours = await setting.seedWorkspace();
    theirs = await setting.seedWorkspace();
    database = connectDatabase(setting.url, { poolSize: 4 });
  });
  afterAll(async () => {
    await database.end();
    await setting.drop();
  });

  test('of slow statements of one workspace do not make another wait', async () => {
    const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const lock = sql`select pg_advisory_xact_lock(1)`;
    const holding = setting.database.system.transaction().execute(async (transaction) => {
      await lock.execute(transaction);
      held.resolve();
      await release.promise;
    });
    await held.promise;
    // Each takes as long as the lock is held.
    const slow = Array.from({ length: 12 }, () => lock.execute(database.forWorkspace(ours.workspaceId)));
    for (let i = 0; i < 20; i += 1) await sql`select 1`.execute(database.forWorkspace(theirs.workspaceId));
    // Twelve statements, three at a time at most.
    expect(database.usage().waiting).toBeGreaterThan(5);
    release.resolve();
    await Promise.all([holding, ...slow]);
    expect(database.usage()).toMatchObject({ waiting: 0 });
  });

  test('that fail, or that the server ends, give their places back', async () => {
    const db = database.forWorkspace(ours.workspaceId);
    for (let i = 0; i < 6; i += 1) {
      await expect(sql`select 1 / 0`.execute(db)).rejects.toThrow('division by zero');
      const killed = db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
        await adminQuery(`select pg_terminate_backend(${rows[0]?.pid})`);
        await sql`select 1`.execute(trx);
      });
      await expect(killed).rejects.toThrow();
      await expect(
        db.transaction().execute(async (trx) => {
          await sql`select 1`.execute(trx);
          throw new Error('undone');
        }),
      ).rejects.toThrow('undone');
    }
    expect(await Promise.all(Array.from({ length: 8 }, () => sql`select 1`.execute(db)))).toHaveLength(8);
  });
});
