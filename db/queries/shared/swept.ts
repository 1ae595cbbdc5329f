import { type RawBuilder, sql } from 'kysely';

/** What a look for work that is due has found. */
export interface Swept<Data> {
  /** Work that is due now. */
  due: Data[];
  /** When more will be due, as far as the look saw; undefined when that is not known, or when nothing more is stored. */
  next?: Date | undefined;
}

/** A row of `sweeping`. */
export interface SweptRow<Data> {
  due: Data[] | null;
  next: Date | null;
}

/**
 * SQL query: what is due, and when more will be. It is one statement, because an idle service asks for both again and again. `due` is a query of
 * JSON values in their order, `next` a query of one time.
 */
export function sweeping<Data>(due: RawBuilder<Data>, next: RawBuilder<unknown>): RawBuilder<SweptRow<Data>> {
  return sql<SweptRow<Data>>`select (select json_agg(found) from (${due}) as found) as due, (${next}) as next`;
}

/** The result of `sweeping`. */
export function sweptOf<Data>([row]: readonly SweptRow<Data>[]): Swept<Data> {
  return { due: row?.due ?? [], next: row?.next ?? undefined };
}
