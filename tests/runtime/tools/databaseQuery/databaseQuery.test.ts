import { adminQuery } from '../../../support/db/database.ts';
import { failureOf, useQueryDatabase } from '../../../support/tools/queryDatabase.ts';

const database = useQueryDatabase();
const { run, row } = database;

describe('values', () => {
  test.each<[string, unknown]>([
    ['null::text', null],
    ["'text'", 'text'],
    ["''", ''],
    ['\'a\'::"char"', 'a'],
    ['true', true],
    ['false', false],
    ['7::int2', 7],
    ['-7', -7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740993', '9007199254740993'],
    ['1.50::numeric', '1.50'],
    ["'NaN'::numeric", 'NaN'],
    ['0.1::float8', 0.1],
    ['0.1::float4', 0.1],
    ["'NaN'::float8", 'NaN'],
    ["'-Infinity'::float8", '-Infinity'],
    ["date '2026-11-21'", '2026-11-21'],
    ["timestamp '2026-11-21 09:20:00.123456'", '2026-11-21T09:20:00.123456'],
    ["timestamptz 'infinity'", 'infinity'],
    ["timestamp '0044-03-15 BC'", '0044-03-15 00:00:00 BC'],
    ["time '09:20'", '09:20:00'],
    ["interval '1 day 2 hours'", 'P1DT2H'],
    ["'\\x00ff'::bytea", 'AP8='],
    ["'\\x'::bytea", ''],
    ["'2f6a3c1e-0000-7000-8000-000000000000'::uuid", '2f6a3c1e-0000-7000-8000-000000000000'],
    [`'{"a": [1, {"b": null}]}'::jsonb`, { a: [1, { b: null }] }],
    [
      `'{"id": 12345678901234567890, "small": 5, "text": "1234567890123456"}'::json`,
      { id: '12345678901234567890', small: 5, text: '1234567890123456' },
    ],
    [`'{"__proto__": {"polluted": true}}'::json`, JSON.parse('{"__proto__": {"polluted": true}}')],
    ['array[1, null, 3]', [1, null, 3]],
    [
      'array[[1, 2], [3, 4]]',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ["'[0:1]={1,2}'::int[]", [1, 2]],
    ["'{}'::text[]", []],
    [
      `array['a,b', 'say "hi"', 'back\\slash', 'NULL', null, '', '{}', 'ü']`,
      ['a,b', 'say "hi"', 'back\\slash', 'NULL', null, '', '{}', 'ü'],
    ],
    ["array[timestamp '2026-11-21 09:20:00']", ['2026-11-21T09:20:00']],
    [`array['{"a": 1}'::jsonb]`, [{ a: 1 }]],
    ['array[true, false]', [true, false]],
    ["row(1, 'a')", '(1,a)'],
    ['int4range(1, 5)', '[1,5)'],
  ])('%s is %j', async (expression, expected) => {
    expect(await row(`select ${expression} as value`)).toEqual({ value: expected });
  });

  test('a time with a zone has the zone of the database', async () => {
    const query = "select timestamptz '2026-11-21 09:20:00+00' as at";
    await adminQuery(`alter role guildhall in database ${database.name()} set timezone = 'Asia/Kolkata'`);
    expect(await row(query)).toEqual({ at: '2026-11-21T14:50:00+05:30' });
    await adminQuery(`alter role guildhall in database ${database.name()} set timezone = 'UTC'`);
    expect(await row(query)).toEqual({ at: '2026-11-21T09:20:00Z' });
    await adminQuery(`alter role guildhall in database ${database.name()} set timezone = 'Europe/Berlin'`);
    expect(await row(query)).toEqual({ at: '2026-11-21T10:20:00+01:00' });
    await adminQuery(`alter role guildhall in database ${database.name()} reset timezone`);
  });

  test('settings of the login do not change the form of values, but the query may', async () => {
    const set = `alter role guildhall in database ${database.name()} set`;
    await adminQuery(`${set} datestyle = 'German'`);
    await adminQuery(`${set} bytea_output = 'escape'`);
    await adminQuery(`${set} standard_conforming_strings = off`, 'postgres').catch(() => undefined);
    expect(await row("select date '2026-11-21' as d, '\\x00'::bytea as b, 'a\\' as s")).toEqual({
      d: '2026-11-21',
      b: 'AA==',
      s: 'a\\',
    });
    await adminQuery(`alter role guildhall in database ${database.name()} reset all`);
    const changed = await row("select set_config('datestyle', 'German', true), timestamp '2026-11-21 09:20:00' as t");
    expect(changed).toEqual({ set_config: 'German, DMY', t: '21.11.2026 09:20:00' });
  });

  test('a JSON document that nests too deep stays text', async () => {
    const { deep } = (await row("select (repeat('[', 5000) || repeat(']', 5000))::json as deep")) ?? {};
    expect(deep).toBe('['.repeat(5000) + ']'.repeat(5000));
    expect(await row(`select ('"' || repeat('[', 500) || '"')::json as text`)).toEqual({ text: '['.repeat(500) });
  });

  test('columns with one name get distinct names, and no name is special', async () => {
    const result = await row('select 1 as a, 2 as a, 3 as a_2, 4 as "__proto__", 5 as constructor, 6 as "?"');
    expect(JSON.stringify(result)).toBe('{"a":1,"a_3":2,"a_2":3,"__proto__":4,"constructor":5,"?":6}');
  });

  test('no rows, and rows without columns', async () => {
    expect(await run('select 1 as a where false')).toEqual({ rows: [], truncated: false });
    expect(await run('select from generate_series(1, 2)')).toEqual({ rows: [{}, {}], truncated: false });
  });

  test.each([
    'values (1), (2)',
    '(select 1 as column1) union all (select 2);',
    'with x(column1) as (values (1), (2)) table x -- end',
  ])('runs %s', async (query) => {
    expect((await run(query)).rows).toEqual([{ column1: 1 }, { column1: 2 }]);
  });
});

describe('parameters', () => {
  test.each<[string, unknown, unknown]>([
    [':x::text', 'O\'Brien; "drop"', 'O\'Brien; "drop"'],
    [':x::text', '', ''],
    [':x::int', 5, 5],
    [':x::int', '5', 5],
    [':x::float8', -1.5e300, -1.5e300],
    [':x::bool', true, true],
    [':x::text', null, null],
    [':x::date', '2026-11-21', '2026-11-21'],
    [':x::jsonb', { a: [1, "it's"] }, { a: [1, "it's"] }],
    [':x::int[]', [1, null, 3], [1, null, 3]],
    [':x::text[]', ['a,b', '"', '\\', '{', null, ''], ['a,b', '"', '\\', '{', null, '']],
    [
      ':x::int[]',
      [
        [1, 2],
        [3, 4],
      ],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [':x::jsonb[]', [{ a: 1 }], [{ a: 1 }]],
    [':x::text', { toPostgres: 'no function' }, '{"toPostgres":"no function"}'],
    ['2 = any(:x)', [1, 2], true],
    [':x + 1', 41, 42],
    ["'2026-11-21'::date + :x::int", 1, '2026-11-22'],
  ])('%s with %j', async (expression, value, expected) => {
    expect(await row(`select ${expression} as value`, { x: value })).toEqual({ value: expected });
  });

  test('one used twice is bound once, a missing one is null, an unused one is left out', async () => {
    const query = 'select :a::text || :b::text as both, :a::text as again, :c::text as missing';
    expect(await row(query, { a: 'x', b: 'y', d: 'z' })).toEqual({ both: 'xy', again: 'x', missing: null });
    expect(await row('select :constructor::text as c, :__proto__::text as p')).toEqual({ c: null, p: null });
  });

  test('may be used wherever SQL takes a value: limit, offset, in, like', async () => {
    const query =
      'select n from generate_series(1, 9) n where n in (:a, :b, 7) and n::text like :like order by n limit :limit offset :skip';
    expect((await run(query, { a: 3, b: 5, like: '%', limit: 2, skip: 1 })).rows).toEqual([{ n: 5 }, { n: 7 }]);
  });
});

describe('failures', () => {
  test.each([
    ['select nothing from nowhere', {}, 'relation "nowhere" does not exist (line 1, column 21)'],
    ['select :a::int,\n  :bb::int,\n  nothing', {}, 'column "nothing" does not exist (line 3, column 3)'],
    ["select 'ü€😀', :a::int, nothing", {}, 'column "nothing" does not exist (line 1, column 24)'],
    ['select 1 +', {}, 'syntax error at end of input (line 1, column 11)'],
    ['select 1 / :x', { x: 0 }, 'division by zero'],
    ['select :x::int', { x: 'five' }, 'invalid input syntax for type integer: "five"'],
    [
      'with gone as (delete from pg_class returning 1) select * from gone',
      {},
      'The query must not contain data-modifying statements in WITH',
    ],
    ['select 1; select 2', {}, 'The query must be one statement: remove what follows the semicolon.'],
  ])('%s', async (query, inputs, message) => {
    const failure = await failureOf(run(query, inputs));
    expect(failure.message).toBe(message);
    expect(failure.statusCode).toBeNull();
  });

  test('a message is short, and repeats neither password nor host', async () => {
    const { password, hostname } = new URL(database.url());
    const { message } = await failureOf(run('select :x::int', { x: `${hostname} ${password} ${'x'.repeat(10_000)}` }));
    expect(message).toMatch(/^invalid input syntax for type integer: "\*{8} \*{8} x+$/);
    expect(message.length).toBeLessThanOrEqual(500);
  });
});
