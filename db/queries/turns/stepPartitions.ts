import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** Partitions are made this many weeks ahead: steps find theirs, even when upkeep does not run for so long. */
const WEEKS_AHEAD = 4;
const CHECK_VIOLATION = '23514';

/** Makes the partitions for the steps of this week and of the next ones, where they are not there yet. It locks no row and no reader. */
export async function addStepPartitions(system: Kysely<DB>, now: Date): Promise<void> {
  await sql`select add_steps_partition(first_id_at(${now}::timestamptz + make_interval(weeks => n)))
    from generate_series(0, ${WEEKS_AHEAD}::int) n`.execute(system);
}

/**
 * Runs a statement that stores steps of the turn. When the turn's week has no partition, since the clock of this machine is wrong or
 * nobody made one for a month, it is made and the statement is run again. Within a transaction it is not: there the error is final.
 */
export async function withStepsPartition<Result>(
  db: Kysely<DB>,
  turnId: string,
  store: () => Promise<Result>,
): Promise<Result> {
  try {
    return await store();
  } catch (error) {
    if (db.isTransaction || !isPartitionMissing(error)) throw error;
    await sql`select add_steps_partition(${turnId})`.execute(db);
    return store();
  }
}

/** PostgreSQL reports a missing partition as a violation of a check of the table, which then has no name. */
function isPartitionMissing(error: unknown): boolean {
  const { code, table, constraint } = error as { code?: string; table?: string; constraint?: string };
  return code === CHECK_VIOLATION && table === 'turn_steps' && constraint === undefined;
}

/** The names of partitions of which every turn began before a time. */
export async function findOldStepPartitions(system: Kysely<DB>, before: Date): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'turn_steps'::regclass
      and (substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([0-9a-f-]+)''\\)'))::uuid <= first_id_at(${before}::timestamptz)
    union all
    select c.relname from pg_class c
    where c.relnamespace = 'partitions'::regnamespace and c.relkind = 'r' and not c.relispartition
      and obj_description(c.oid, 'pg_class') = ${DROPPED_COMMENT}
    order by name`.execute(system);
  return rows.map(({ name }) => name);
}

/** The comment of a partition that is being dropped. A process that ends in the middle leaves it to the next one. */
export const DROPPED_COMMENT = 'Is being dropped';
