import { sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';

let setting: TestDatabase;
let ours: SeededWorkspace;
let theirs: SeededWorkspace;

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace({ name: 'Ours' });
  theirs = await setting.seedWorkspace({ name: 'Theirs' });
  for (const { db, workspaceId } of [ours, theirs]) {
    await db.insertInto('agents').values({ workspace_id: workspaceId, id: newId(), name: 'Ada' }).execute();
  }
});

afterAll(() => setting.drop());

describe('a workspace handle', () => {
  test('sees no rows of another workspace, whatever the query', async () => {
    expect(await ours.db.selectFrom('agents').select('workspace_id').execute()).toEqual([
      { workspace_id: ours.workspaceId },
    ]);
    const asked = ours.db.selectFrom('agents').selectAll().where('workspace_id', '=', theirs.workspaceId);
    expect(await asked.execute()).toEqual([]);
  });

  test('changes and deletes no rows of another workspace', async () => {
    const updated = await ours.db.updateTable('agents').set({ description: 'x' }).executeTakeFirst();
    expect(updated.numUpdatedRows).toBe(1n);
    const deleted = await ours.db
      .deleteFrom('agents')
      .where('workspace_id', '=', theirs.workspaceId)
      .executeTakeFirst();
    expect(deleted.numDeletedRows).toBe(0n);
  });

  test('cannot insert for another workspace, nor move a row there', async () => {
    const insert = ours.db.insertInto('agents').values({ workspace_id: theirs.workspaceId, id: newId(), name: 'Spy' });
    await expect(insert.execute()).rejects.toMatchObject({ code: '42501' });
    const move = ours.db.updateTable('agents').set({ workspace_id: theirs.workspaceId });
    await expect(move.execute()).rejects.toMatchObject({ code: '42501' });
  });

  test('cannot refer to a row of another workspace', async () => {
    const foreign = await theirs.db.selectFrom('agents').select('id').executeTakeFirstOrThrow();
    const insert = ours.db
      .insertInto('conversations')
      .values({ workspace_id: ours.workspaceId, id: newId(), agent_id: foreign.id, external_user_id: 'u' });
    await expect(insert.execute()).rejects.toMatchObject({ code: '23503', constraint: 'conversations_agent_fkey' });
  });

  test('cannot switch row level security off, own objects or gain rights', async () => {
    await expect(sql`alter table agents disable row level security`.execute(ours.db)).rejects.toMatchObject({
      code: '42501',
    });
    await expect(sql`alter table agents no force row level security`.execute(ours.db)).rejects.toMatchObject({
      code: '42501',
    });
    await expect(sql`create table mine (id int)`.execute(ours.db)).rejects.toMatchObject({ code: '42501' });
    const { rows } = await sql<{ superuser: boolean; bypass: boolean }>`
      select rolsuper as superuser, rolbypassrls as bypass from pg_roles where rolname = current_user`.execute(ours.db);
    expect(rows).toEqual([{ superuser: false, bypass: false }]);
  });

  test('gets an error and no rows with row_security off', async () => {
    await ours.db.connection().execute(async (db) => {
      await sql`set row_security = off`.execute(db);
      await expect(db.selectFrom('agents').selectAll().execute()).rejects.toMatchObject({ code: '42501' });
      await sql`reset row_security`.execute(db);
    });
  });

  test('reads only its own workspace row, and no keys', async () => {
    expect(await ours.db.selectFrom('workspaces').select('name').execute()).toEqual([{ name: 'Ours' }]);
    await expect(ours.db.updateTable('workspaces').set({ agent_limit: 9 }).execute()).rejects.toMatchObject({
      code: '42501',
    });
    await expect(ours.db.selectFrom('api_keys').selectAll().execute()).rejects.toMatchObject({ code: '42501' });
  });

  test('may add a published version, and never change or delete one', async () => {
    const { id } = await ours.db.selectFrom('agents').select('id').executeTakeFirstOrThrow();
    const row = { workspace_id: ours.workspaceId, agent_id: id, version_number: 1, snapshot: '{}' };
    await ours.db.insertInto('agent_versions').values(row).execute();
    await expect(ours.db.updateTable('agent_versions').set({ notes: 'x' }).execute()).rejects.toMatchObject({
      code: '42501',
    });
    await expect(ours.db.deleteFrom('agent_versions').execute()).rejects.toMatchObject({ code: '42501' });
  });
});

describe('the system handle', () => {
  test('sees every workspace', async () => {
    const rows = await setting.database.system.selectFrom('agents').select('workspace_id').execute();
    expect(new Set(rows.map((row) => row.workspace_id))).toEqual(new Set([ours.workspaceId, theirs.workspaceId]));
  });
});

describe('a connection without a workspace', () => {
  test('sees nothing', async () => {
    const nobody = setting.database.forWorkspace('');
    expect(await nobody.selectFrom('agents').selectAll().execute()).toEqual([]);
  });
});
