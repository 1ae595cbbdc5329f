import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate, migrationsFolder } from '../../db/migrate.ts';
import { createEmptyDatabase } from '../support/db/database.ts';

let empty: Awaited<ReturnType<typeof createEmptyDatabase>>;
let folder: string;

beforeEach(async () => {
  empty = await createEmptyDatabase();
  folder = await mkdtemp(join(tmpdir(), 'guildhall-migrations-'));
  await cp(migrationsFolder, folder, { recursive: true });
});

afterEach(async () => {
  await empty.drop();
  await rm(folder, { recursive: true });
});

async function query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: empty.url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

describe('migrate', () => {
  test('applies every file once, in order', async () => {
    const applied = await migrate(empty.url);
    expect(applied.length).toBeGreaterThan(2);
    expect(applied).toEqual([...applied].sort());
    expect(await migrate(empty.url)).toEqual([]);
    const ledger = await query<{ name: string; checksum: string }>(
      'select name, checksum from schema_migrations order by name',
    );
    expect(ledger.map((row) => row.name)).toEqual(applied);
    expect(ledger.every((row) => /^[0-9a-f]{64}$/.test(row.checksum))).toBe(true);
  });

  test('two replicas that start together apply each file once', async () => {
    const [one, two] = await Promise.all([migrate(empty.url), migrate(empty.url)]);
    expect([one.length, two.length].sort()).toEqual([0, Math.max(one.length, two.length)]);
    expect(one.length + two.length).toBeGreaterThan(2);
  });

  test('refuses an applied file that was changed', async () => {
    const [first = ''] = await migrate(empty.url, { folder });
    await writeFile(join(folder, first), 'select 1;');
    await expect(migrate(empty.url, { folder })).rejects.toThrow(`${first} was changed after it was applied`);
  });

  test('refuses a database that a newer version has migrated', async () => {
    await writeFile(join(folder, '9000_from_the_future.sql'), 'select 1;');
    await migrate(empty.url, { folder });
    await expect(migrate(empty.url)).rejects.toThrow('9000_from_the_future.sql, which this version does not know');
  });

  test('refuses a new file with a number before an applied one', async () => {
    await migrate(empty.url, { folder });
    await writeFile(join(folder, '0000_late.sql'), 'select 1;');
    await expect(migrate(empty.url, { folder })).rejects.toThrow('0000_late.sql comes before');
  });

  test('refuses a file without a number and a title in its name', async () => {
    await writeFile(join(folder, 'fix.sql'), 'select 1;');
    await expect(migrate(empty.url, { folder })).rejects.toThrow('NNNN_<intent>.sql');
  });

  test('rolls back a failing file completely, and keeps the files before it', async () => {
    await writeFile(join(folder, '8000_half.sql'), 'create table half (id int); select 1/0;');
    await expect(migrate(empty.url, { folder })).rejects.toThrow(
      '8000_half.sql failed and was rolled back: division by zero',
    );
    expect(await query("select from pg_tables where tablename = 'half'")).toHaveLength(0);
    expect(await query("select from pg_tables where tablename = 'agents'")).toHaveLength(1);
  });

  test('every table of a workspace begins its key with the workspace and has row level security', async () => {
    await migrate(empty.url);
    const tables = await query<{ name: string; key: string[]; forced: boolean; policies: string[] }>(`
      select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
        (select array_agg(a.attname::text order by k.position) from pg_index i
          cross join unnest(i.indkey) with ordinality k(number, position)
          join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
          where i.indrelid = c.oid and i.indisprimary) as key,
        (select array_agg(policyname::text order by policyname) from pg_policies p where p.tablename = c.relname) as policies
      from pg_class c join pg_attribute w on w.attrelid = c.oid and w.attname = 'workspace_id'
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'api_keys'`);
    expect(tables.length).toBeGreaterThan(5);
    for (const table of tables) {
      expect(table).toMatchObject({ forced: true, policies: ['every_workspace', 'own_workspace'] });
      // By an address or a host it is found out which workspace a request is for.
      const first = { public_addresses: 'address_hash', hub_names: 'name' }[table.name] ?? 'workspace_id';
      expect({ table: table.name, first: table.key[0] }).toEqual({ table: table.name, first });
    }
  });

  test('every foreign key between tables of a workspace includes the workspace', async () => {
    await migrate(empty.url);
    const bare = await query<{ name: string }>(`
      select conname as name from pg_constraint f
      where f.contype = 'f' and f.confrelid <> 'workspaces'::regclass and not exists (
        select from pg_attribute a where a.attrelid = f.conrelid and a.attnum = any (f.conkey) and a.attname = 'workspace_id')`);
    expect(bare).toEqual([]);
  });

  test('every foreign key has an index that begins with its columns', async () => {
    await migrate(empty.url);
    const bare = await query<{ name: string }>(`
      select f.conname as name from pg_constraint f
      where f.contype = 'f' and not exists (
        select from pg_index i where i.indrelid = f.conrelid
          and (i.indkey::int2[])[0:cardinality(f.conkey) - 1] @> f.conkey)`);
    expect(bare).toEqual([]);
  });
});
