import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB } from '../../../generated/db.ts';
import { budgetMonthOf, usedIn } from './reserve.ts';
import { LEAST_ESTIMATE_USD } from './settle.ts';

/** What a budget limits. The operations of a workspace are its quota, and no budget. */
export interface BudgetTarget {
  scope: 'workspace' | 'agent' | 'client' | 'end_user';
  /** An id, or the external id of an end user. */
  target: string;
  unit: 'operations' | 'usd';
}

/** A limit of a calendar month (UTC), and what of it is used. */
export interface Budget extends BudgetTarget {
  id: string;
  amount: number;
  /** In the month. */
  used: number;
  /** By turns that run. */
  reserved: number;
}

/** SQL condition: the row of `c`, a conversation, counts to the budget. */
function countsTo({ scope, target }: BudgetTarget): RawBuilder<boolean> {
  switch (scope) {
    case 'workspace':
      return sql<boolean>`true`;
    case 'agent':
      return sql<boolean>`c.agent_id = ${target}::uuid`;
    case 'client':
      return sql<boolean>`c.client_id = ${target}::uuid`;
    case 'end_user':
      return sql<boolean>`c.external_user_id = ${target}`;
  }
}

/** SQL value: what was used since the month began. Turns that run are not in it. */
function usedSince(workspaceId: string, month: string, budget: BudgetTarget): RawBuilder<number> {
  const since = sql`${month}::date::timestamp at time zone 'UTC'`;
  if (budget.unit === 'operations') {
    return sql<number>`(select coalesce(sum(m.cost_ops), 0) from messages m
      join conversations c on c.workspace_id = ${workspaceId} and c.id = m.conversation_id
      where m.workspace_id = ${workspaceId} and m.cost_ops > 0 and m.sent_at >= ${since} and ${countsTo(budget)})`;
  }
  return sql<number>`(select coalesce(sum(t.cost_usd), 0) from turns t
      join conversations c on c.workspace_id = ${workspaceId} and c.id = t.conversation_id
      where t.workspace_id = ${workspaceId} and t.started_at >= ${since} and ${countsTo(budget)})`;
}

/**
 * Stores a budget, which begins with what was used in the month, or changes the amount of one that is there. What turns are thought to
 * cost begins anew. Use it within `revising`: processes then read anew whether there are budgets.
 */
export async function insertBudget(
  db: Kysely<DB>,
  workspaceId: string,
  budget: BudgetTarget & { amount: number; now: Date },
): Promise<void> {
  const { scope, target, unit, amount, now } = budget;
  const month = budgetMonthOf(now);
  const estimate = unit === 'operations' ? 1 : LEAST_ESTIMATE_USD;
  await sql`
    insert into budgets (workspace_id, id, scope, target, unit, amount, month, used, estimate, created_at)
    select ${workspaceId}::uuid, ${newId()}::uuid, ${scope}::text, ${target}::text, ${unit}::text, ${amount}::numeric, ${month}::date,
      ${usedSince(workspaceId, month, budget)}, ${estimate}::numeric, ${now}::timestamptz
    on conflict (workspace_id, scope, target, unit) do update set amount = excluded.amount, estimate = excluded.estimate`.execute(
    db,
  );
}

/** Removes a budget. False when there is none. Use it within `revising`, as above. */
export async function removeBudget(
  trx: Transaction<DB> | Kysely<DB>,
  workspaceId: string,
  { scope, target, unit }: BudgetTarget,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('budgets')
    .where('workspace_id', '=', workspaceId)
    .where('scope', '=', scope)
    .where('target', '=', target)
    .where('unit', '=', unit)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The budgets of a workspace, with what is used of them in the month of `now`. */
export async function selectBudgets(db: Kysely<DB>, workspaceId: string, now: Date): Promise<Budget[]> {
  const { rows } = await sql<Budget>`
    select id, scope, target, unit, amount, ${usedIn(budgetMonthOf(now))} as used, reserved from budgets
    where workspace_id = ${workspaceId} order by scope, target, unit`.execute(db);
  return rows;
}
