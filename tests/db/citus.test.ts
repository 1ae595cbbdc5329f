import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adminQuery, TEMPLATE_DATABASE } from '../support/db/database.ts';

/** The statement of deploy/citus.sql that distributes or copies a table. */
const PLACING = /^select create_(reference|distributed)_table\('(\w+)'(?:, '(\w+)'(?:, (\w+) => '?(\w+)'?)?)?\);$/;

interface PlacedTable {
  name: string;
  kind: 'reference' | 'distributed';
  column: string | undefined;
  colocatedWith: string | undefined;
}

const placed: PlacedTable[] = [];
beforeAll(async () => {
  const text = await readFile(join(import.meta.dirname, '../../deploy/citus.sql'), 'utf8');
  for (const line of text.split('\n').filter((each) => each.includes('_table('))) {
    const [, kind, name = '', column, option, value] = PLACING.exec(line) ?? [];
    expect([line, kind]).toEqual([line, expect.stringMatching(/^(reference|distributed)$/)]);
    const colocatedWith = option === 'colocate_with' ? value : undefined;
    placed.push({ name, kind: kind as PlacedTable['kind'], column, colocatedWith });
  }
});

const query = <Row extends object>(text: string) => adminQuery<Row & Record<string, unknown>>(text, TEMPLATE_DATABASE);
const namesOf = (kind: PlacedTable['kind']) => placed.filter((table) => table.kind === kind).map(({ name }) => name);
const isDistributed = (name: string) => namesOf('distributed').includes(name);

test('every table is placed, but the ledger of migrations, which only the coordinator reads', async () => {
  const tables = await query<{ name: string; tenant: boolean }>(`
    select c.relname as name, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id'
      and a.atttypid = 'uuid'::regtype and a.attnotnull) as tenant
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`);
  const names = tables.map(({ name }) => name).filter((name) => name !== 'schema_migrations');
  expect(placed.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  expect(namesOf('reference')).toEqual(['workspaces', 'api_keys', 'public_addresses', 'hub_names']);
  const tenants = tables.filter(({ tenant }) => tenant).map(({ name }) => name);
  expect(namesOf('distributed').filter((name) => !tenants.includes(name))).toEqual([]);
});

test('all rows of a workspace are on one node', () => {
  const [first, ...others] = placed.filter(({ kind }) => kind === 'distributed');
  expect(first).toMatchObject({ column: 'workspace_id', colocatedWith: undefined });
  for (const table of others) expect(table).toMatchObject({ column: 'workspace_id', colocatedWith: first?.name });
});

test('every unique index of a distributed table has workspace_id', async () => {
  const indexes = await query<{ table: string; index: string; columns: string[] }>(`
    select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as index,
      array(select a.attname::text from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey)) as columns
    from pg_index i join pg_class c on c.oid = i.indrelid
    where i.indisunique and c.relnamespace = 'public'::regnamespace`);
  expect(indexes.length).toBeGreaterThan(20);
  const wrong = indexes.filter(({ table, columns }) => isDistributed(table) && !columns.includes('workspace_id'));
  expect(wrong).toEqual([]);
});

test('every foreign key stays on its node, and refers to a table that is placed before', async () => {
  const keys = await query<{ name: string; from: string; to: string; pairs: string[]; deferrable: boolean }>(`
    select conname as name, conrelid::regclass::text as from, confrelid::regclass::text as to, condeferrable as deferrable,
      array(select a.attname || ' = ' || b.attname from unnest(conkey, confkey) as k (x, y)
        join pg_attribute a on a.attrelid = conrelid and a.attnum = x join pg_attribute b on b.attrelid = confrelid and b.attnum = y) as pairs
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`);
  expect(keys.length).toBeGreaterThan(20);
  const order = placed.map(({ name }) => name);
  for (const { name, from, to, pairs, deferrable } of keys) {
    const ofOneNode = !isDistributed(to) || (isDistributed(from) && pairs.includes('workspace_id = workspace_id'));
    expect({ name, ofOneNode, inOrder: order.indexOf(to) < order.indexOf(from), deferrable }).toEqual({
      name,
      ofOneNode: true,
      inOrder: true,
      deferrable: false,
    });
  }
});

test('no table has what Citus does not take: triggers, rules, exclusion constraints, inheritance', async () => {
  expect(
    await query(`
      select tgrelid::regclass::text as table, tgname as what from pg_trigger where not tgisinternal
        and tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
      union all select c.relname, r.rulename from pg_rewrite r join pg_class c on c.oid = r.ev_class
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      union all select conrelid::regclass::text, conname from pg_constraint
        where contype = 'x' and connamespace = 'public'::regnamespace
      union all select i.inhrelid::regclass::text, 'inherits' from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where c.relkind = 'r' and not c.relispartition and c.relnamespace = 'public'::regnamespace`),
  ).toEqual([]);
});
