import { type DatabaseTarget, readConnection } from '../../../../runtime/tools/databaseQuery/connection.ts';
import { runDatabaseQuery } from '../../../../runtime/tools/databaseQuery/databaseQuery.ts';
import { DatabaseSession } from '../../../../runtime/tools/databaseQuery/session.ts';
import { adminQuery, createEmptyDatabase, TEST_ADMIN_URL } from '../../../support/db/database.ts';
import { poll } from '../../../support/poll.ts';

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let superuserUrl: string;
let before: string;

/** Functions that a database may have and a query could call. */
const FUNCTIONS = `
  create table notes (id int primary key, body text);
  insert into notes select n, 'note ' || n from generate_series(1, 5) n;
  create sequence counter;
  create function wipe() returns int language plpgsql as $$ begin delete from notes; return 1; end $$;
  create function wipe_sql() returns bigint language sql as $$ with gone as (delete from notes returning 1) select count(*) from gone $$;
  create function wipe_as_owner() returns int language plpgsql security definer as $$ begin delete from notes; return 1; end $$;
  create function wipe_after_set() returns int language plpgsql as $$ begin set transaction read write; delete from notes; return 1; end $$;
  create function wipe_after_set_local() returns int language plpgsql as $$ begin set local transaction_read_only = off; delete from notes; return 1; end $$;
  create function wipe_in_block() returns int language plpgsql as $$
    begin begin perform set_config('transaction_read_only', 'off', true); exception when others then null; end; delete from notes; return 1; end $$;
  create function wipe_immutable() returns int language plpgsql immutable as $$ begin delete from notes; return 1; end $$;
  create function set_immutable() returns text language sql immutable as $$ select set_config('transaction_read_only', 'off', false) $$;
  create procedure wipe_and_commit() language plpgsql as $$ begin rollback; delete from notes; commit; end $$;
  create function call_procedure() returns int language plpgsql as $$ begin call wipe_and_commit(); return 1; end $$;
  create function run(text) returns text language plpgsql as $$ begin execute $1; return 'ran'; end $$;
  create function run_committing(text) returns text language plpgsql as $$ begin commit; execute $1; return 'ran'; end $$;
  create view trap as select wipe() as gone;
  grant all on all tables in schema public to public;
  grant all on all sequences in schema public to public;
  alter table notes owner to guildhall;
`;

/** Everything in the database that an attempt could change. */
async function stateOfDatabase(): Promise<string> {
  const [state] = await adminQuery<{ state: string }>(
    `select json_build_object(
       'notes', (select json_agg(n order by id) from notes n),
       'counter', (select json_build_array(last_value, is_called) from counter),
       'relations', (select count(*) from pg_class where relpersistence <> 't'),
       'functions', (select json_agg(proname || md5(prosrc) order by oid) from pg_proc where oid >= 16384),
       'large objects', (select count(*) from pg_largeobject_metadata),
       'settings', (select json_agg(s) from pg_db_role_setting s where setdatabase = (select oid from pg_database where datname = current_database())),
       'extensions', (select count(*) from pg_extension),
       'grants', (select relacl::text from pg_class where relname = 'notes'),
       'roles', (select count(*) from pg_roles where rolname like 'evil%'),
       'files', (select count(*) from pg_ls_dir('.') f where f like 'evil%'),
       'slots', (select count(*) from pg_replication_slots where slot_name like 'evil%'),
       'auto', (select count(*) from pg_file_settings where name like 'evil%' or sourcefile like '%auto.conf' and setting like '%evil%')
     )::text as state`,
    database.name,
  );
  return state?.state ?? '';
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  await adminQuery(FUNCTIONS, database.name);
  const url = new URL(process.env[TEST_ADMIN_URL] ?? '');
  url.pathname = `/${database.name}`;
  superuserUrl = url.href;
  before = await stateOfDatabase();
});

afterEach(async () => {
  expect(await stateOfDatabase()).toBe(before);
});

afterAll(() => database.drop());

function run(connection: string, query: string, inputs: Record<string, unknown> = {}) {
  const limits = { maxRows: 100, timeoutSeconds: 10, allowPrivateNetwork: true, workspaceId: 'workspace' };
  return runDatabaseQuery({ connection, query, inputs, ...limits });
}

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => `ended well with ${JSON.stringify(value)}`,
    (error: unknown) => (error as Error).message,
  );
}

/** Each attempt with part of its error message: one that fails for another reason proves nothing. */
const ATTEMPTS: [string, RegExp][] = [
  ["insert into notes values (6, 'new')", /must begin with/],
  ['delete from notes', /must begin with/],
  ['do $$ begin delete from notes; end $$', /must begin with/],
  ['call wipe_and_commit()', /must begin with/],
  ['explain analyze delete from notes', /must begin with/],
  ["copy (select 1) to program 'touch evil'", /must begin with/],
  ['prepare evil as delete from notes', /must begin with/],
  ['select 1; delete from notes', /one statement/],
  ['select 1; commit; delete from notes', /one statement/],
  ['select 1; rollback; begin read write; delete from notes; commit', /one statement/],
  ["select 1 /* ; */; delete from notes --'", /one statement/],
  ["select E'\\'; commit; delete from notes; --'; delete from notes", /one statement/],
  ['select $a$ $b$ $a$; delete from notes; select $b$ $b$', /one statement/],
  ["with new as (insert into notes values (6, 'new') returning *) select * from new", /data-modifying/],
  ['with gone as (delete from notes returning *) select * from gone', /data-modifying/],
  ["with x as (select 1), y as (update notes set body = '' returning *) table y", /data-modifying/],
  [
    'with m as (merge into notes n using (values (1)) v (id) on n.id = v.id when matched then delete returning *) select * from m',
    /data-modifying/,
  ],
  ['select * into evil from notes', /SELECT INTO|INTO clause|not allowed|cannot/i],
  ['select * from notes for update', /FOR UPDATE|read-only/],
  ['select * from notes for key share', /read-only/],
  ["select nextval('counter')", /read-only/],
  ["select setval('counter', 100)", /read-only/],
  ['select lo_create(424242)', /read-only/],
  ["select lo_from_bytea(424242, 'evil')", /read-only/],
  ['select wipe()', /read-only/],
  ['select wipe_sql()', /read-only/],
  ['select wipe_as_owner()', /read-only/],
  ['select * from trap', /read-only/],
  ['select wipe_immutable()', /not allowed in a non-volatile function/],
  ['select 1 limit wipe_immutable()', /not allowed in a non-volatile function/],
  ['select id from notes order by wipe() + id', /read-only/],
  ['select wipe_after_set()', /must be set before any query|read-write/],
  ['select wipe_after_set_local()', /must be set before any query|read-write/],
  ['select wipe_in_block()', /read-only/],
  ["select set_config('transaction_read_only', 'off', false)", /must be set before any query|read-write/],
  ["select set_config('transaction_read_only', 'off', true), wipe()", /must be set before any query|read-write/],
  ['select set_immutable(), wipe()', /must be set before any query|read-write/],
  ['select 1 where set_immutable() is not null', /must be set before any query|read-write/],
  ["select set_config('default_transaction_read_only', 'off', false), wipe()", /read-only/],
  ["select set_config('session_replication_role', 'replica', false), wipe()", /read-only|permission/],
  ["select set_config('role', 'guildhall', false), wipe()", /read-only/],
  ['select call_procedure()', /invalid transaction termination|read-only/],
  ["select run_committing('delete from notes')", /invalid transaction termination/],
  ["select run('commit')", /unsupported|cannot|transaction/i],
  ["select run('delete from notes')", /read-only/],
  ["select run('truncate notes')", /read-only/],
  ["select run('drop table notes')", /read-only/],
  ["select run('create table evil (x int)')", /read-only/],
  ["select run('alter table notes add evil int')", /read-only/],
  ["select run('grant all on notes to public')", /read-only/],
  ["select run('create role evil_role')", /read-only/],
  ["select run('comment on table notes is ''evil''')", /read-only/],
  ["select run('alter system set application_name = ''evil''')", /cannot|function|transaction|permission/],
  ["select run('do $x$ begin delete from notes; end $x$')", /read-only/],
  ["select run('begin read write')", /unsupported|cannot|transaction/i],
  ["select run('vacuum notes')", /cannot|transaction|function/],
  ["select run('analyze notes')", /ended well/],
  ["select run('create extension lo')", /read-only/],
  ["select run('notify evil')", /ended well/],
  [
    "select query_to_xml('delete from notes returning 1', true, true, '')",
    /not allowed in a non-volatile function|read-only/,
  ],
  ["select query_to_xml('select wipe()', true, true, '')", /read-only/],
  ["select * from ts_stat('select to_tsvector(wipe()::text)')", /read-only/],
  ["select cursor_to_xml('guildhall', 10, true, true, '')", /cannot be run/],
  ["select pg_create_logical_replication_slot('evil', 'pgoutput')", /read-only|wal_level|logical|permission/],
  ["select pg_notify('evil', 'x')", /ended well/],
  ['select pg_advisory_lock(4242)', /ended well/],
];

describe.each([
  ['the owner', () => database.url],
  ['a superuser', () => superuserUrl],
])('as %s', (_who, connection) => {
  test.each(ATTEMPTS)('nothing is changed by: %s', async (query, refusal) => {
    expect(await errorOf(run(connection(), query))).toMatch(refusal);
  });

  test.each([
    ["'; delete from notes; --"],
    ['1; commit; delete from notes'],
    ["') ; delete from notes; select ('"],
    ["\\'; delete from notes; --"],
    ['$1; delete from notes'],
    ['{"a": "\'); delete from notes; --"}'],
    ['$$; delete from notes; $$'],
    ['x\u2019; delete from notes; --'],
  ])('nothing is changed by a value: %s', async (value) => {
    expect(await run(connection(), "select :x::text as x, 'a' || :x || 'b' as y", { x: value })).toEqual({
      rows: [{ x: value, y: `a${value}b` }],
      truncated: false,
    });
    expect(await errorOf(run(connection(), 'select * from notes where id = :x', { x: value }))).toContain(
      'invalid input',
    );
    const listed = await run(connection(), 'select :x::text[] as x', { x: [value, `"${value}`] });
    expect(listed.rows).toEqual([{ x: [value, `"${value}`] }]);
  });
});

describe('the second lock, for a query that passes the check of its text', () => {
  async function session(): Promise<DatabaseSession> {
    const target = readConnection(superuserUrl) as DatabaseTarget;
    const signal = AbortSignal.timeout(10_000);
    return DatabaseSession.open(target, { allowPrivateNetwork: true, workspaceId: null, maxBytes: 1_000_000, signal });
  }

  test.each([
    'declare c cursor for select 1; delete from notes',
    'declare c cursor for select 1; commit; delete from notes',
    'select 1; commit; delete from notes',
  ])('the protocol takes no second statement: %s', async (text) => {
    const open = await session();
    await open.command('begin read only');
    expect(await errorOf(open.execute(text, []))).toContain('multiple commands');
    await open.close();
  });

  test.each([
    'delete from notes',
    'delete from notes returning *',
    "insert into notes values (6, 'new')",
    'explain analyze delete from notes',
    'do $$ begin delete from notes; end $$',
    'call wipe_and_commit()',
    'commit',
  ])('a cursor accepts nothing but a query: %s', async (text) => {
    const open = await session();
    await open.command('begin read only');
    expect(await errorOf(open.execute(`declare guildhall no scroll cursor for ${text}`, []))).toMatch(
      /syntax error|must be/,
    );
    await open.close();
  });
});

describe('after a call', () => {
  test('no lock and no setting is left: each call has its own session', async () => {
    await run(database.url, "select pg_advisory_lock(77), set_config('app.evil', 'x', false)");
    // The server ends a session in its own time.
    const after = await poll(
      () => run(database.url, `select current_setting('app.evil', true) as setting, pg_try_advisory_lock(77) as free`),
      ({ rows }) => rows[0]?.free === true,
    );
    expect(after.rows).toEqual([{ setting: null, free: true }]);
  });
});
