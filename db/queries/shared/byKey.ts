import { type RawBuilder, sql } from 'kysely';

/**
 * SQL condition of a statement that finds one row by its key: it is not deleted. Not `deleted_at is null`, since that is what the indexes
 * of lists have as their condition: while the planner takes a workspace for one with hardly any rows, it would read the whole list, and
 * keep that plan.
 */
export function notDeletedByKey(column = 'deleted_at'): RawBuilder<boolean> {
  return sql<boolean>`num_nulls(${sql.ref(column)}) = 1`;
}
