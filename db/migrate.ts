import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** The folder of the numbered SQL files. */
export const migrationsFolder = join(import.meta.dirname, 'migrations');

/** Any number will do, as long as every replica uses the same. */
const ADVISORY_LOCK = 7_261_548_201;
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const UNDEFINED_TABLE = '42P01';

type Migration = { name: string; checksum: string; sql: string };

/** Options of a migration run. */
export type MigrateOptions = {
  /** Another folder of migrations; the tests use it. */
  folder?: string;
  log?: (line: string) => void;
};

/**
 * Brings the database at `url` up to date: runs each file of `db/migrations` that the ledger `schema_migrations` does not
 * list, in order, each in a transaction of its own. One query when nothing is pending. Replicas that start together take turns.
 * Throws when an applied file was changed or is missing, or when a number was inserted before an applied one.
 * The login of `url` becomes the owner of the tables.
 * @returns the names of the files that it applied
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const migrations = await readMigrations(options.folder ?? migrationsFolder);
  const client = new pg.Client({
    connectionString: url,
    application_name: 'guildhall-migrate',
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {}); // the query in flight reports it
  await client.connect();
  try {
    if (pendingOf(migrations, await readLedger(client)).length === 0) return [];
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await client.query(`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz(3) not null default now())`);
    const pending = pendingOf(migrations, await readLedger(client));
    for (const migration of pending) {
      await apply(client, migration);
      options.log?.(`applied ${migration.name}`);
    }
    return pending.map((migration) => migration.name);
  } finally {
    await client.end(); // gives the advisory lock back, too
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(
    names.map(async (name) => {
      if (!FILE_NAME.test(name)) throw new Error(`Migration ${name} is not named NNNN_<intent>.sql`);
      const sql = await readFile(join(folder, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readLedger(client: pg.Client): Promise<Map<string, string>> {
  try {
    const { rows } = await client.query<{ name: string; checksum: string }>(
      'select name, checksum from schema_migrations',
    );
    return new Map(rows.map((row) => [row.name, row.checksum]));
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return new Map();
    throw error;
  }
}

function pendingOf(migrations: Migration[], ledger: Map<string, string>): Migration[] {
  const known = new Set(migrations.map((migration) => migration.name));
  for (const name of ledger.keys()) {
    if (!known.has(name)) {
      throw new Error(
        `The database has migration ${name}, which this version does not know: it belongs to a newer version`,
      );
    }
  }
  const lastApplied = [...ledger.keys()].sort().at(-1);
  return migrations.filter((migration) => {
    const applied = ledger.get(migration.name);
    if (applied === undefined) {
      if (lastApplied !== undefined && migration.name < lastApplied) {
        throw new Error(
          `Migration ${migration.name} comes before ${lastApplied}, which is applied: give it a higher number`,
        );
      }
      return true;
    }
    if (applied !== migration.checksum) {
      throw new Error(`Migration ${migration.name} was changed after it was applied: restore it and write a new one`);
    }
    return false;
  });
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    // The login sees no rows otherwise: migration 0018.
    await client.query("begin; set local guildhall.migration = 'on'");
    await client.query(migration.sql);
    await client.query('insert into schema_migrations (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    const reason = Error.isError(cause) ? cause.message : String(cause);
    throw new Error(`Migration ${migration.name} failed and was rolled back: ${reason}`, { cause });
  }
}
