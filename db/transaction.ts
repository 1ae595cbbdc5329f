import { type Kysely, sql, type Transaction } from 'kysely';
import { backOff, retry } from '../core/retry.ts';
import { isStaleStatement } from './session.ts';

const MAX_FIRST_PAUSE_MS = 10;
const LOST_TO_ANOTHER = new Set(['40001', '40P01']);

/** What each transaction that is under way does last. */
const lastActions = new WeakMap<object, Map<string, () => Promise<void>>>();

/** Runs `action` when the work of the transaction is done, before its commit; of several with one key only one. */
export function atEnd<Tables>(transaction: Transaction<Tables>, key: string, action: () => Promise<void>): void {
  const actions = lastActions.get(transaction);
  if (!actions) throw new Error('The transaction was not begun by inTransaction');
  actions.set(key, action);
}

/**
 * Runs `work` in a transaction, and again from the start after a serialization failure, a deadlock, or
 * a prepared statement that a migration made stale: at most `retries` more times, default 3. `work` must have no other effects.
 * Within a transaction `work` is a part of it, and the outer call retries.
 */
export async function inTransaction<Tables, Result>(
  db: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
  options: { retries?: number } = {},
): Promise<Result> {
  if (db.isTransaction) return work(db as Transaction<Tables>);
  const retries = options.retries ?? 3;
  return retry(
    () =>
      db.transaction().execute(async (transaction) => {
        const actions = new Map<string, () => Promise<void>>();
        lastActions.set(transaction, actions);
        const result = await work(transaction);
        for (const action of actions.values()) await action();
        return result;
      }),
    (error, failures) => {
      const code = (error as { code?: string } | null)?.code ?? '';
      if (failures > retries || !(LOST_TO_ANOTHER.has(code) || isStaleStatement(error))) return undefined;
      // At random, so that the two transactions do not collide again.
      return Math.random() * backOff(MAX_FIRST_PAUSE_MS, failures);
    },
  );
}

/** Runs `work` in a transaction whose statements the database cancels after `timeoutMs`. For figures that nobody should wait for. */
export function withStatementTimeout<Tables, Result>(
  db: Kysely<Tables>,
  timeoutMs: number,
  work: (transaction: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`.execute(transaction);
    return work(transaction);
  });
}
