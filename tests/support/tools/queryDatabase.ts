import { runDatabaseQuery } from '../../../runtime/tools/databaseQuery/databaseQuery.ts';
import { ToolFailure } from '../../../runtime/tools/failure.ts';
import { adminQuery, createEmptyDatabase } from '../db/database.ts';

type Query = Parameters<typeof runDatabaseQuery>[0];

/** A database of a tenant for the tests of a file, and the tool that queries it. */
export function useQueryDatabase() {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  /** Runs a query; by default with limits that it does not reach. */
  function run(query: string, inputs: Record<string, unknown> = {}, options: Partial<Query> = {}) {
    return runDatabaseQuery({
      connection: database.url,
      query,
      maxRows: 100,
      timeoutSeconds: 20,
      inputs,
      allowPrivateNetwork: true,
      ...options,
    });
  }

  /** The one row of a query. */
  async function row(query: string, inputs?: Record<string, unknown>) {
    const { rows, truncated } = await run(query, inputs);
    expect([rows.length, truncated]).toEqual([1, false]);
    return rows[0];
  }

  /** Sessions of the database, with what they run now. */
  async function runningSessions(): Promise<string[]> {
    const sessions = await adminQuery<{ query: string }>(
      `select state || ': ' || query as query from pg_stat_activity where datname = '${database.name}' and backend_type = 'client backend'`,
    );
    return sessions.map(({ query }) => query);
  }

  /** Waits until the server has no session left of the database; what is left after the deadline is the answer. */
  async function sessionsLeft(millis: number): Promise<string[]> {
    for (const deadline = Date.now() + millis; ; ) {
      const left = await runningSessions();
      if (left.length === 0 || Date.now() > deadline) return left;
    }
  }

  return { name: () => database.name, url: () => database.url, run, row, runningSessions, sessionsLeft };
}

/** How a query fails that has to. */
export async function failureOf(work: Promise<unknown>): Promise<ToolFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ToolFailure)) throw new Error(`no ToolFailure but ${String(error)}`);
  return error;
}
