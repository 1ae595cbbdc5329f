import { sql } from 'kysely';
import { newId } from '../../core/ids.ts';
import { databaseFault } from '../../db/errors.ts';
import { createTestDatabase, type SeededWorkspace, type TestDatabase } from '../support/db/database.ts';

let setting: TestDatabase;
let ours: SeededWorkspace;
let agentId: string;

beforeAll(async () => {
  setting = await createTestDatabase();
  ours = await setting.seedWorkspace();
  agentId = newId();
  await ours.db.insertInto('agents').values({ workspace_id: ours.workspaceId, id: agentId, name: 'Ada' }).execute();
});

afterAll(() => setting.drop());

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a value that PostgreSQL refuses is 400 VALIDATION_ERROR', () => {
  test.each([
    ['22021', 'NUL in text', () => sql`select ${'a\0b'}::text`],
    ['22P02', 'a malformed uuid', () => sql`select ${'x'}::uuid`],
    ['22P05', 'an escaped NUL in json', () => sql`select ${'"\\u0000"'}::jsonb ->> 0`],
    ['22P02', 'a lone surrogate in json', () => sql`select ${'"\\ud800"'}::jsonb`],
    ['22003', 'a number out of range', () => sql`select ${'99999999999'}::int`],
    ['22008', 'a date out of range', () => sql`select ${'999999-01-01'}::timestamptz`],
    ['2201X', 'a negative offset', () => sql`select 1 offset ${-1}::int`],
    ['2201W', 'a negative limit', () => sql`select 1 limit ${-1}::int`],
    ['2201B', 'a bad regular expression', () => sql`select 'a' ~ ${'('}`],
    ['22025', 'a bad escape', () => sql`select 'a' like ${'\\'}`],
    ['54001', 'nesting without end', () => sql`select ${`${'['.repeat(20_000)}${']'.repeat(20_000)}`}::jsonb`],
  ])('%s: %s', async (code, _what, query) => {
    const failure = await failureOf(query().execute(ours.db));
    expect(failure).toMatchObject({ code });
    expect(databaseFault(failure)).toMatchObject({ code: 'VALIDATION_ERROR', status: 400, cause: failure });
  });
});

describe('a broken constraint has the code of its resource', () => {
  test('23505: a taken name is 409', async () => {
    const again = ours.db.insertInto('agents').values({ workspace_id: ours.workspaceId, id: newId(), name: 'Ada' });
    expect(databaseFault(await failureOf(again.execute()))).toMatchObject({ code: 'AGENT_NAME_TAKEN', status: 409 });
  });

  test('23503: a reference to a deleted row is 404', async () => {
    const orphan = ours.db.insertInto('agent_variables').values({
      workspace_id: ours.workspaceId,
      id: newId(),
      agent_id: newId(),
      name: 'a',
      label: 'A',
      type: 'number',
    });
    expect(databaseFault(await failureOf(orphan.execute()))).toMatchObject({ code: 'AGENT_NOT_FOUND', status: 404 });
  });

  test('a constraint without a code is an internal error', async () => {
    const again = ours.db.insertInto('agents').values({ workspace_id: ours.workspaceId, id: agentId, name: 'Other' });
    const failure = await failureOf(again.execute());
    expect(failure).toMatchObject({ code: '23505', constraint: 'agents_pkey' });
    expect(databaseFault(failure)).toBeUndefined();
  });

  test('every constraint that has a code exists', async () => {
    const source = await import('node:fs/promises').then((fs) => fs.readFile('db/errors.ts', 'utf8'));
    const mapped = [...source.matchAll(/^ {2}(\w+_(?:key|fkey)): '/gm)].map((match) => match[1]);
    const { rows } = await sql<{ name: string }>`
      select conname as name from pg_constraint union select indexname from pg_indexes`.execute(
      setting.database.system,
    );
    const known = new Set(rows.map((row) => row.name));
    expect(mapped.length).toBeGreaterThan(4);
    expect(mapped.filter((name) => !known.has(name ?? ''))).toEqual([]);
  });
});

describe('an unreachable database is 503 UNAVAILABLE with Retry-After', () => {
  test.each(['53300', '57P01', '57P03', '57014', '08006', '40001', '40P01', 'ECONNREFUSED'])('%s', (code) => {
    const failure = Object.assign(new Error('x'), { code });
    expect(databaseFault(failure)).toMatchObject({ code: 'UNAVAILABLE', status: 503, headers: { 'Retry-After': '2' } });
  });
});

describe('other errors stay unchanged', () => {
  test.each([undefined, null, 'x', new Error('x'), Object.assign(new Error('x'), { code: '42601' })])(
    '%p',
    (failure) => {
      expect(databaseFault(failure)).toBeUndefined();
    },
  );
});
