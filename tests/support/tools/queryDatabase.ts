import { runDatabaseQuery } from '../../../runtime/tools/databaseQuery/databaseQuery.ts';
import { ToolFailure } from '../../../runtime/tools/failure.ts';
import { adminQuery, createEmptyDatabase } from '../db/database.ts';
import { poll } from '../poll.ts';

type Query = Parameters<typeof runDatabaseQuery>[0];

/** A tenant's database for the tests of a file, and functions that run the tool on it. */
export function useQueryDatabase() {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  /** Runs a query, by default with limits that it does not reach. */
  function run(query: string, inputs: Record<string, unknown> = {}, options: Partial<Query> = {}) {
    return runDatabaseQuery({
      connection: database.url,
      query,
      maxRows: 100,
      timeoutSeconds: 20,
      inputs,
      allowPrivateNetwork: true,
      workspaceId: 'workspace',
      ...options,
    });
  }

  /** The one row of a query. */
  async function row(query: string, inputs?: Record<string, unknown>) {
    const { rows, truncated } = await run(query, inputs);
    expect([rows.length, truncated]).toEqual([1, false]);
    return rows[0];
  }

  /** The sessions of the database and what they run. */
  async function runningSessions(): Promise<string[]> {
    const sessions = await adminQuery<{ query: string }>(
      `select state || ': ' || query as query from pg_stat_activity where datname = '${database.name}' and backend_type = 'client backend'`,
    );
    return sessions.map(({ query }) => query);
  }

  /** Waits until the database has no session left. What the tests run would go on for longer by itself. */
  async function untilNoSession(): Promise<void> {
    await poll(runningSessions, (left) => left.length === 0, 40_000);
  }

  return { name: () => database.name, url: () => database.url, run, row, runningSessions, untilNoSession };
}

/** The failure of work that must fail. */
export async function failureOf(work: Promise<unknown>): Promise<ToolFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ToolFailure)) throw new Error(`no ToolFailure but ${String(error)}`);
  return error;
}
