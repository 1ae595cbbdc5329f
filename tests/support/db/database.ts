import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { displayApiKey, hashApiKey, mintApiKey } from '../../../core/apiKey.ts';
import { newId } from '../../../core/ids.ts';
import { type ConnectOptions, connectDatabase, type Database } from '../../../db/connect.ts';
import { insertApiKey } from '../../../db/queries/workspaces/apiKeys.ts';
import type { LimitValues } from '../../../db/queries/workspaces/limits.ts';
import { insertWorkspace } from '../../../db/queries/workspaces/workspaces.ts';
import type { DB } from '../../../generated/db.ts';
import { poll } from '../poll.ts';
import { lintSent } from './statementLint.ts';

/** Environment variables in which the set-up passes the addresses of the test cluster to the workers. */
export const TEST_ADMIN_URL = 'GUILDHALL_TEST_ADMIN_URL';
export const TEST_LOGIN_URL = 'GUILDHALL_TEST_LOGIN_URL';
export const TEMPLATE_DATABASE = 'guildhall_template';

const LEAK_TIMEOUT_MS = 2000;

export type SeededWorkspace = {
  workspaceId: string;
  apiKey: string;
  apiKeyId: string;
  /** The workspace's own handle. */
  db: Kysely<DB>;
};

export type TestDatabase = {
  name: string;
  /** For the service's login. */
  url: string;
  database: Database;
  /** A workspace with a key. */
  seedWorkspace(options?: {
    name?: string;
    agentLimit?: number | null;
    operationLimit?: number | null;
    limits?: LimitValues;
  }): Promise<SeededWorkspace>;
  /**
   * Call it last: fails when something was left inside a transaction or with an advisory lock, or when the program sent a statement that
   * does not name its workspace; closes all and drops the database.
   */
  drop(): Promise<void>;
};

/** Runs one statement as superuser of the test cluster, by default in its `postgres` database. */
export async function adminQuery<Row extends pg.QueryResultRow>(text: string, database = 'postgres'): Promise<Row[]> {
  const client = new pg.Client({ connectionString: urlOf(TEST_ADMIN_URL, database) });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Resolves when somebody in the database waits for a lock. */
export async function untilOneWaits(database: string): Promise<void> {
  await poll(
    () => adminQuery(`select 1 from pg_stat_activity where datname = '${database}' and wait_event_type = 'Lock'`),
    (waiting) => waiting.length > 0,
  );
}

/** An empty database without any table, owned by the service's login. */
export async function createEmptyDatabase(): Promise<{ name: string; url: string; drop(): Promise<void> }> {
  return await create('template1');
}

/** A migrated database of this test file's own. */
export async function createTestDatabase(options: ConnectOptions = {}): Promise<TestDatabase> {
  const { name, url, drop } = await create(TEMPLATE_DATABASE);
  const database = connectDatabase(url, { poolSize: 8, ...options });
  return {
    name,
    url,
    database,
    async seedWorkspace({ name: workspaceName = 'Test', agentLimit = null, operationLimit = null, limits } = {}) {
      const { id: workspaceId } = await insertWorkspace(database.system, {
        id: newId(),
        name: workspaceName,
        limits: { agent_limit: agentLimit, operation_limit: operationLimit, ...limits },
      });
      const apiKey = mintApiKey();
      const { id: apiKeyId } = await insertApiKey(database.system, {
        id: newId(),
        workspaceId,
        name: 'Test key',
        hash: hashApiKey(apiKey),
        display: displayApiKey(apiKey),
      });
      return { workspaceId, apiKey, apiKeyId, db: database.forWorkspace(workspaceId) };
    },
    async drop() {
      const leaks = await findLeaks(name);
      const lint = new pg.Client({ connectionString: urlOf(TEST_ADMIN_URL, name) });
      await lint.connect();
      const unbound = await lintSent(lint).finally(() => lint.end());
      await database.end();
      await drop();
      if (leaks.length > 0) throw new Error(`Left behind in the database:\n${leaks.join('\n')}`);
      if (unbound.length > 0) throw new Error(`Statements that do not name their workspace:\n${unbound.join('\n')}`);
    },
  };
}

async function create(template: string): Promise<{ name: string; url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copying files takes half the time of writing the copy to the log, which nobody reads here.
  await adminQuery(`create database ${name} template ${template} strategy file_copy owner guildhall`);
  return {
    name,
    url: urlOf(TEST_LOGIN_URL, name),
    drop: async () => void (await adminQuery(`drop database ${name} with (force)`)),
  };
}

function urlOf(variable: string, database: string): string {
  const url = process.env[variable];
  if (!url) throw new Error(`${variable} is not set: run the tests through jest, whose set-up starts the test cluster`);
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

/** Sessions inside a transaction and advisory locks; what is just finishing gets a moment. */
export async function findLeaks(database: string): Promise<string[]> {
  for (const deadline = Date.now() + LEAK_TIMEOUT_MS; ; await sleep(20)) {
    const leaks = await adminQuery<{ leak: string }>(`
      select 'session ' || pid || ' is ' || state || ' after: ' || query as leak
        from pg_stat_activity where datname = '${database}' and state like 'idle in transaction%'
      union all
      select 'session ' || pid || ' holds advisory lock ' || classid || '/' || objid
        from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = '${database}')`);
    if (leaks.length === 0 || Date.now() > deadline) return leaks.map((row) => row.leak);
  }
}
