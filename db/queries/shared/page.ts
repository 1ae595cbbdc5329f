import { type SelectQueryBuilder, type Simplify, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** Which rows of a list: at most `limit`, from the one after `offset`. */
export interface Page {
  offset: number;
  limit: number;
}

/** Rows of a list, and how many there are on all pages. */
export interface PageOf<Row> {
  rows: Row[];
  total: number;
}

/** How many rows there are that a query, which has its conditions and selects nothing yet, would find. */
export async function countRows<Table extends keyof DB, Selected>(
  matching: SelectQueryBuilder<DB, Table, Selected>,
): Promise<number> {
  const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return total;
}

/** A page of what `matching` finds, which has its conditions and selects nothing yet; `shown` adds columns and their order. */
export async function selectPage<Table extends keyof DB, Selected, Row>(
  matching: SelectQueryBuilder<DB, Table, Selected>,
  shown: (query: SelectQueryBuilder<DB, Table, Selected>) => SelectQueryBuilder<DB, Table, Row>,
  { offset, limit }: Page,
): Promise<PageOf<Simplify<Row>>> {
  const rows = await shown(matching).limit(limit).offset(offset).execute();
  return { rows, total: await countRows(matching) };
}

/** Orders rows by when they were made, newest first; the id decides between equal times, so that pages do not overlap. */
export function newestFirst<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
): SelectQueryBuilder<Tables, Table, Row> {
  return query.orderBy(sql.ref('created_at'), 'desc').orderBy(sql.ref('id'), 'desc');
}
