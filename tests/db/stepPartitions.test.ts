import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { v4, v7 } from 'uuid';
import { connectDatabase } from '../../db/connect.ts';
import { dropStepPartitions } from '../../db/dropPartitions.ts';
import { migrate, migrationsFolder } from '../../db/migrate.ts';
import { insertPromptPart } from '../../db/queries/turns/promptParts.ts';
import { addStepPartitions, findOldStepPartitions, withStepsPartition } from '../../db/queries/turns/stepPartitions.ts';
import { endStep, insertingSteps, insertSteps } from '../../db/queries/turns/turnSteps.ts';
import { keepSteps } from '../../jobs/upkeep.ts';
import {
  adminQuery,
  createEmptyDatabase,
  createTestDatabase,
  type SeededWorkspace,
  type TestDatabase,
} from '../support/db/database.ts';
import { until } from '../support/poll.ts';
import { stepRow } from '../support/turns/stepRow.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const LONG_AGO = Date.UTC(2020, 0, 1);

let setting: TestDatabase;
let workspace: SeededWorkspace;
beforeEach(async () => {
  setting = await createTestDatabase();
  workspace = await setting.seedWorkspace();
});
afterEach(() => setting.drop());

const insertAgentRow = (id: string) =>
  adminQuery(
    `set session_replication_role = replica; insert into agents (workspace_id, id, name) values ('${workspace.workspaceId}', '${id}', 'A')`,
    setting.name,
  );

/** The id of a turn that began at this time. */
const idAt = (ms: number): string => v7({ msecs: ms });

const step = stepRow({ output: { text: 'Hello.' } });
const store = (turnId: string, db = workspace.db) =>
  withStepsPartition(db, turnId, () => insertingSteps(workspace.workspaceId, turnId, [step]).execute(db));
const stored = async () => {
  const rows = await workspace.db.selectFrom('turn_steps').select('turn_id').orderBy('turn_id').execute();
  return rows.map(({ turn_id }) => turn_id);
};
const partitions = async () => {
  const text =
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'turn_steps'::regclass order by 1";
  return (await adminQuery<{ name: string }>(text, setting.name)).map(({ name }) => name);
};
const old = (days: number) => findOldStepPartitions(setting.database.system, new Date(Date.now() - days * DAY_MS));

describe('a step finds a partition', () => {
  test('of its own week and of the next four, before anything is stored', async () => {
    const now = Date.now();
    expect(await partitions()).toHaveLength(5);
    for (const days of [0, 7, 14, 21, 28]) {
      // Without the second attempt of withStepsPartition.
      await workspace.db
        .insertInto('turn_steps')
        .values({
          ...step,
          workspace_id: workspace.workspaceId,
          turn_id: idAt(now + days * DAY_MS),
          input: null,
          output: null,
          request: null,
        })
        .execute();
    }
    expect(await stored()).toHaveLength(5);
  });

  test('of weeks that upkeep adds, also after a long stop', async () => {
    const later = Date.UTC(2040, 5, 1);
    await addStepPartitions(setting.database.system, new Date(later));
    expect(await partitions()).toHaveLength(10);
    await addStepPartitions(setting.database.system, new Date(later));
    expect(await partitions()).toHaveLength(10);
  });

  test('of a week that nobody has prepared, once for many at a time', async () => {
    const ids = [LONG_AGO, LONG_AGO + 1, LONG_AGO + 2, LONG_AGO + 3, Date.UTC(2190, 0, 1)].map(idAt);
    await Promise.all(ids.map((id) => store(id)));
    expect(await stored()).toEqual(ids);
    expect(await partitions()).toHaveLength(7);
  });

  test('which no role reaches but through the table', async () => {
    const [name = ''] = await partitions();
    for (const db of [workspace.db, setting.database.system]) {
      await expect(sql`select from ${sql.raw(name)}`.execute(db)).rejects.toMatchObject({ code: '42501' });
    }
    const rows = await adminQuery<{ safe: boolean }>(
      `select relrowsecurity and relforcerowsecurity as safe from pg_class where oid = '${name}'::regclass`,
      setting.name,
    );
    expect(rows).toEqual([{ safe: true }]);
  });
});

test('the outcome of a call does not wait for the disk; what stands before a call does, and what comes after', async () => {
  const { workspaceId } = workspace;
  const [conversationId, turnId] = [v7(), v7()];
  // At the commit of each statement, how that is made.
  await adminQuery(
    `create table noted (place int generated always as identity, what text);
    create function note() returns trigger language plpgsql security definer as $$ begin
      insert into public.noted (what) values (tg_op || ' ' || new.status || ' ' || current_setting('synchronous_commit')); return null; end $$;
    create constraint trigger note after insert or update on turn_steps deferrable initially deferred for each row execute function note();
    set session_replication_role = replica;
    insert into conversations (workspace_id, id, agent_id, external_user_id, turn_id, turn_expires_at)
      values ('${workspaceId}', '${conversationId}', '${v7()}', 'somebody', '${turnId}', now() + interval '1 minute')`,
    setting.name,
  );
  // The test's own PostgreSQL flushes nothing unless it is told to.
  const flushing = connectDatabase(`${setting.url}?options=${encodeURIComponent('-c synchronous_commit=on')}`, {
    poolSize: 1,
  });
  try {
    const db = flushing.forWorkspace(workspaceId);
    const turn = { workspaceId, conversationId, turnId, attempt: 1 };
    const running = (seq: number) => [stepRow({ seq, kind: 'tool', status: 'running' })];
    const done = { status: 'done', output: { text: 'Paid.' }, duration_ms: 1 } as const;
    for (const seq of [0, 1]) {
      expect(await insertSteps(db, turn, running(seq))).toBe(true);
      await endStep(db, turn, seq, done);
    }
    await endStep(db, { ...turn, attempt: 2 }, 1, { ...done, status: 'failed' });
  } finally {
    await flushing.end();
  }
  const rows = await adminQuery<{ what: string }>('select what from noted order by place', setting.name);
  const each = ['INSERT running on', 'UPDATE done off'];
  expect(rows.map(({ what }) => what)).toEqual([...each, ...each]);
});

describe('old steps', () => {
  test('go with the partition of which every turn is old', async () => {
    const [oldest, other, present] = [idAt(LONG_AGO), idAt(Date.now() - 100 * DAY_MS), idAt(Date.now())];
    for (const id of [oldest, other, present]) await store(id);
    expect(await old(110)).toEqual(['turn_steps_2019_12_30']);
    expect(await dropStepPartitions(setting.url, await old(110))).toEqual(['turn_steps_2019_12_30']);
    expect(await stored()).toEqual([other, present]);
    await dropStepPartitions(setting.url, await old(90));
    expect(await stored()).toEqual([present]);
    expect(await old(0)).toEqual([]);
  });

  test('go without a lock that makes turns wait, even while a transaction uses the table', async () => {
    await store(idAt(LONG_AGO));
    const holder = new pg.Client({ connectionString: setting.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select from turn_steps');
    const dropping = dropStepPartitions(setting.url, await old(90));
    const text = `select from pg_stat_activity where datname = '${setting.name}' and application_name = 'guildhall-upkeep'
      and wait_event_type = 'Lock'`;
    await until(async () => (await adminQuery(text)).length > 0);
    const present = idAt(Date.now());
    await workspace.db.transaction().execute(async (transaction) => {
      await sql`set local lock_timeout = '2s'`.execute(transaction);
      await store(present, transaction);
    });
    expect(await stored()).toContain(present);
    await holder.query('commit');
    await holder.end();
    expect(await dropping).toEqual(['turn_steps_2019_12_30']);
    expect(await stored()).toEqual([present]);
  });

  test.each([
    ['detached, but not dropped', 'alter table turn_steps detach partition'],
    ['about to be detached', 'alter table turn_steps detach partition concurrently'],
  ])('that a killed process left %s go at the next time', async (_state, command) => {
    await store(idAt(LONG_AGO));
    const [name = ''] = await old(90);
    const [holder, killed] = [1, 2].map(() => new pg.Client({ connectionString: setting.url })) as [
      pg.Client,
      pg.Client,
    ];
    for (const client of [holder, killed]) await client.connect();
    await killed.query(`comment on table partitions.${name} is 'Is being dropped'`);
    if (command.endsWith('concurrently')) {
      await holder.query('begin');
      await holder.query('select from turn_steps');
      await killed.query("set lock_timeout = '200ms'");
      const detaching = killed.query(`alter table turn_steps detach partition partitions.${name} concurrently`);
      await expect(detaching).rejects.toMatchObject({ code: '55P03' });
      await holder.query('commit');
    } else {
      await killed.query(`${command} partitions.${name}`);
    }
    for (const client of [holder, killed]) await client.end();
    expect(await old(90)).toEqual([name]);
    expect(await dropStepPartitions(setting.url, [name])).toEqual([name]);
    expect(await adminQuery(`select from pg_class where relname = '${name}'`, setting.name)).toEqual([]);
  });

  test('are dropped by one process at a time', async () => {
    await store(idAt(LONG_AGO));
    const names = await old(90);
    const both = await Promise.all([1, 2].map(() => dropStepPartitions(setting.url, names).catch(() => [])));
    expect(both.flat()).toEqual(names);
  });
});

test('upkeep adds the partitions of the next weeks, and drops those that are older than the days for which steps are kept', async () => {
  const clock = { now: () => new Date(Date.UTC(2040, 5, 1)) };
  const [gone, kept] = [200, 10].map((days) => idAt(clock.now().getTime() - days * DAY_MS)) as [string, string];
  for (const id of [gone, kept]) await store(id);
  const { db, workspaceId } = workspace;
  const agentId = v7();
  await insertAgentRow(agentId);
  const weeks = ['2039-11-07', '2040-03-12', '2040-05-21'];
  for (const week of weeks)
    await insertPromptPart(db, workspaceId, { agentId, week, digest: 'a', content: '"You help."' });
  const logger = pino({ level: 'silent' });
  await keepSteps({ url: setting.url, days: 90 }).run({ database: setting.database, clock, logger });
  expect(await stored()).toEqual([kept]);
  const parts = await db.selectFrom('prompt_parts').select('week').orderBy('week').execute();
  expect(parts.map(({ week }) => week)).toEqual(weeks.slice(1));
  // Those of this year are as old by that clock.
  expect(await partitions()).toHaveLength(6);
});

test('the steps of an existing database are all there after the migration, and go when they are old', async () => {
  const empty = await createEmptyDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-migrations-'));
  const [name = ''] = (await readdir(migrationsFolder)).filter((file) => file.endsWith('steps_by_week.sql'));
  const isEarlier = (path: string) => !path.endsWith('.sql') || basename(path) < name;
  await cp(migrationsFolder, folder, { recursive: true, filter: isEarlier });
  await migrate(empty.url, { folder });
  const database = empty.url.split('/').at(-1) ?? '';
  const ids = [
    idAt(LONG_AGO),
    idAt(Date.now() - 7 * DAY_MS),
    idAt(Date.now()),
    idAt(Date.UTC(2100, 0, 1)),
    v4(),
  ].sort();
  const rows = ids.map(
    (id) => `('${workspace.workspaceId}', '${id}', 0, '${id}', 'tool', 'pay', 'done', '{"a": [1]}')`,
  );
  // As superuser and without its triggers: the rows that they refer to are not the point.
  await adminQuery(
    `set session_replication_role = replica; insert into turn_steps (workspace_id, turn_id, seq, agent_id, kind, name, status, input) values ${rows}`,
    database,
  );
  const contents = () => adminQuery('select * from turn_steps order by turn_id', database);
  const had = await contents();
  expect(had).toHaveLength(5);
  await migrate(empty.url);
  expect(await contents()).toMatchObject(had);
  const read = new pg.Client({ connectionString: empty.url });
  await read.connect();
  await read.query('set role guildhall_system');
  expect((await read.query('select * from turn_steps')).rowCount).toBe(5);
  await read.end();
  await rm(folder, { recursive: true });
  await empty.drop();
});
