import { type Compilable, CompiledQuery, type Kysely } from 'kysely';
import type { DB } from '../generated/db.ts';

/** Stands for an argument while a query is compiled. */
class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A query that is built and compiled once: for the few that every request runs, building the same text again costs more
 * than running it. `build` uses its arguments as values only; it cannot branch on them.
 */
export function compileOnce<Args extends object, Row>(
  build: (db: Kysely<DB>, args: Args) => Compilable<Row>,
): (db: Kysely<DB>, args: Args) => Promise<Row[]> {
  const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as Args;
  let made: { sql: string; parameters: readonly unknown[] } | undefined;
  return async (db, args) => {
    made ??= build(db, placeholders).compile();
    const values = made.parameters.map((value) =>
      value instanceof Placeholder ? args[value.name as keyof Args] : value,
    );
    const { rows } = await db.executeQuery(CompiledQuery.raw(made.sql, values) as CompiledQuery<Row>);
    return rows;
  };
}
