import { adminQuery } from '../../../support/db/database.ts';
import { poll } from '../../../support/poll.ts';
import { failureOf, useQueryDatabase } from '../../../support/tools/queryDatabase.ts';

const database = useQueryDatabase();
const { run, runningSessions, untilNoSession } = database;

describe('limits', () => {
  test('rows beyond maxRows are cut off, and the result says so', async () => {
    const query = 'select n from generate_series(1, 5) n';
    expect(await run(query, {}, { maxRows: 5 })).toMatchObject({ truncated: false, rows: { length: 5 } });
    expect(await run(query, {}, { maxRows: 4 })).toEqual({
      rows: [{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }],
      truncated: true,
    });
    expect(await run('select generate_series(1, 1e12::int8) as n', {}, { maxRows: 1 })).toEqual({
      rows: [{ n: 1 }],
      truncated: true,
    });
  });

  test('rows beyond one MiB are cut off', async () => {
    const { rows, truncated } = await run("select repeat('x', 300000) as text from generate_series(1, 100)");
    expect([rows.length, truncated]).toEqual([3, true]);
    await untilNoSession();
  });

  test('rows beyond what is read from a server are cut off', async () => {
    const query = "select repeat('x', case n when 2 then 40000000 else 1 end) as text from generate_series(1, 2) n";
    expect(await run(query)).toEqual({ rows: [{ text: 'x' }], truncated: true });
  });

  test.each([2_000_000, 100_000_000])('a first row of %d bytes is a failure', async (size) => {
    expect((await failureOf(run(`select repeat('x', ${size})`))).message).toContain('first row alone is larger');
    await untilNoSession();
  });

  test.each([
    ['sleeps', 'select pg_sleep(60)'],
    ['sleeps after the first row', 'select n, case n when 2 then pg_sleep(60)::text end from generate_series(1, 5) n'],
    ['counts', 'select count(*) from generate_series(1, 1e12::int8)'],
    ['takes the time limit away', "select set_config('statement_timeout', '0', false), pg_sleep(60)"],
    [
      'takes every limit away',
      `select set_config(s, '0', false), pg_sleep(60) from unnest(array['statement_timeout', 'client_connection_check_interval', 'idle_in_transaction_session_timeout']) s`,
    ],
  ])('a query that %s is cancelled on the server at the time limit', async (_what, query) => {
    const { message } = await failureOf(run(query, {}, { timeoutSeconds: 1 }));
    expect(message).toBe('The query was cancelled: it took longer than 1 s.');
    await untilNoSession();
  });

  test('a function that ignores the cancel request ends with its connection', async () => {
    await adminQuery(
      `create function stubborn() returns int language plpgsql as $$
       begin
         loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop;
       end $$`,
      database.name(),
    );
    await failureOf(run('select stubborn()', {}, { timeoutSeconds: 1 }));
    await untilNoSession();
  });

  test('a lower time limit of the login stays in force', async () => {
    await adminQuery(`alter role guildhall in database ${database.name()} set statement_timeout = '200ms'`);
    const { message } = await failureOf(run('select pg_sleep(60)'));
    expect(message).toBe('canceling statement due to statement timeout');
    await adminQuery(`alter role guildhall in database ${database.name()} reset statement_timeout`);
  });

  test('the caller can end a call, and the query with it', async () => {
    const controller = new AbortController();
    const reason = new Error('the client is gone');
    // Without the check the server does not notice that the connection is lost: only a cancel request ends the query.
    const query = "select set_config('client_connection_check_interval', '0', false), pg_sleep(60)";
    const call = run(query, {}, { signal: controller.signal, timeoutSeconds: 120 }).catch((error: unknown) => error);
    await poll(runningSessions, (sessions) => sessions.some((session) => /^active: fetch/.test(session)));
    controller.abort(reason);
    expect(await call).toBe(reason);
    await untilNoSession();
    expect(await run('select 1', {}, { signal: controller.signal }).catch((error: unknown) => error)).toBe(reason);
  });

  test('neither success nor failure leaves a session open', async () => {
    await run('select 1');
    await failureOf(run('select 1 / 0'));
    await failureOf(run('select nothing'));
    await untilNoSession();
  });
});
