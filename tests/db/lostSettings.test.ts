import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../core/ids.ts';
import { connectDatabase } from '../../db/connect.ts';
import { migrate, migrationsFolder } from '../../db/migrate.ts';
import { adminQuery, createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';

/** What happens when the settings of a transaction do not reach the server. Nothing may be seen then, and nothing changed. */

let setting: TestDatabase;
let ours: SeededWorkspace;

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace();
  await ours.db.insertInto('agents').values({ workspace_id: ours.workspaceId, id: newId(), name: 'Ada' }).execute();
});
afterAll(() => setting.drop());

describe('a statement without settings', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: setting.url });
    await client.connect();
  });
  afterAll(() => client.end());

  test('sees no row of any table that has a workspace', async () => {
    const tables = await adminQuery<{ name: string }>(
      "select polrelid::regclass::text as name from pg_policy where polname = 'every_workspace'",
      setting.name,
    );
    expect(tables.length).toBeGreaterThan(20);
    const seen: string[] = [];
    for (const { name } of tables) {
      // Asked with the workspace too: the role alone must be enough to see nothing.
      for (const workspace of ['', ours.workspaceId]) {
        await client.query(`select set_config('app.workspace_id', $1, false)`, [workspace]);
        const { rowCount } = await client.query(`select 1 from ${name} limit 1`);
        if (rowCount && workspace === '') seen.push(name);
      }
    }
    expect(seen).toEqual([]);
  });

  test('changes nothing', async () => {
    await client.query(`select set_config('app.workspace_id', '', false)`);
    expect((await client.query("update agents set name = 'Eve'")).rowCount).toBe(0);
    expect((await client.query('delete from workspaces')).rowCount).toBe(0);
    const insert = client.query("insert into workspaces (id, name) values ($1, 'Mine')", [newId()]);
    await expect(insert).rejects.toMatchObject({ code: '42501' });
  });
});

test('every table with a workspace is closed to the login', async () => {
  const open = await adminQuery(
    `select polrelid::regclass::text as name from pg_policy
      where polroles @> array['guildhall_system'::regrole::oid] and pg_get_expr(polqual, polrelid) <> 'sees_every_workspace()'`,
    setting.name,
  );
  expect(open).toEqual([]);
});

/** A line to PostgreSQL that can lose every message with settings, as a careless pooler might. */
async function startCarelessLine(url: string): Promise<{ url: string; careless: boolean; server: Server }> {
  const target = new URL(url);
  const line = { url: '', careless: false, server: createServer() };
  line.server.on('connection', (client: Socket) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    // The driver writes whole messages.
    client.on('data', (chunk) => upstream.write(line.careless ? withoutSettings(chunk) : chunk));
  });
  line.server.listen(0, '127.0.0.1');
  await once(line.server, 'listening');
  const through = new URL(url);
  through.port = String((line.server.address() as AddressInfo).port);
  line.url = through.href;
  return line;
}

/** The messages of a chunk but Bind of settings and the Execute after it. */
function withoutSettings(chunk: Buffer): Buffer {
  const kept: Buffer[] = [];
  let dropped = false;
  for (let at = 0; at < chunk.length; ) {
    const end = at + 1 + chunk.readUInt32BE(at + 1);
    const message = chunk.subarray(at, end);
    const type = String.fromCharCode(message[0] ?? 0);
    if (type === 'B' && message.includes('guildhall_')) dropped = true;
    else if (dropped && type === 'E') dropped = false;
    else kept.push(message);
    at = end;
  }
  return Buffer.concat(kept);
}

test.each([true, false])('settings that get lost on the way: the statement fails (prepared: %s)', async (prepare) => {
  const line = await startCarelessLine(setting.url);
  const database = connectDatabase(line.url, { poolSize: 1, prepare });
  const db = database.forWorkspace(ours.workspaceId);
  const attempts = {
    read: () => db.selectFrom('agents').selectAll().execute(),
    readNothing: () => db.selectFrom('agents').selectAll().where('id', '=', newId()).execute(),
    write: () => db.updateTable('agents').set({ name: 'Eve' }).execute(),
    insert: () =>
      db.insertInto('agents').values({ workspace_id: ours.workspaceId, id: newId(), name: 'Eve' }).execute(),
    transaction: () => db.transaction().execute((inner) => inner.selectFrom('agents').selectAll().execute()),
    system: () => database.system.selectFrom('workspaces').selectAll().execute(),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    // A connection is thrown away after it, and a new one needs its settings once to be opened.
    line.careless = false;
    await db.selectFrom('agents').select('id').execute();
    await database.system.selectFrom('workspaces').select('id').execute();
    line.careless = true;
    const outcome = await attempt().then(
      () => 'succeeded',
      (error: unknown) => (Error.isError(error) ? 'failed' : 'odd'),
    );
    expect([name, outcome]).toEqual([name, 'failed']);
  }
  expect(await ours.db.selectFrom('agents').select('name').execute()).toEqual([{ name: 'Ada' }]);
  await database.end();
  line.server.close();
});

test('a migration may change the rows of every workspace', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-migrations-'));
  await cp(migrationsFolder, folder, { recursive: true });
  await writeFile(join(folder, '9000_change.sql'), "update agents set description = 'changed';");
  const fresh = await createTestDatabase();
  const { db, workspaceId } = await fresh.seedWorkspace();
  await db.insertInto('agents').values({ workspace_id: workspaceId, id: newId(), name: 'Ada' }).execute();
  await migrate(fresh.url, { folder });
  expect(await db.selectFrom('agents').select('description').execute()).toEqual([{ description: 'changed' }]);
  await fresh.drop();
  await rm(folder, { recursive: true });
});
