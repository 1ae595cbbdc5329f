import { type RawBuilder, sql } from 'kysely';
import { budgetMonthOf, usedIn } from './reserve.ts';

/** A turn whose reservation ends. */
interface EndedTurn {
  workspaceId: string;
  /** SQL value: its id. */
  turnId: RawBuilder<unknown>;
  /** SQL value: what it cost in USD. */
  costUsd: RawBuilder<unknown>;
  /** Operations that are charged. */
  costOps: number;
  now: Date;
}

/** Of a USD budget: what the first turn reserves, and any turn at least. */
export const LEAST_ESTIMATE_USD = 0.01;
/** What is left of a USD budget's estimate after a turn that cost less. So it is what the dearest turn of late cost. */
const ESTIMATE_KEPT = 0.9;

/** Common table expressions that turn what `reservation` reserved of budgets into what the turn used. */
function settlingBudgets({ workspaceId, costUsd, costOps, now }: EndedTurn): RawBuilder<unknown> {
  const month = budgetMonthOf(now);
  return sql`, due as (
      select b.id, b.amount from reservation, jsonb_to_recordset(reservation.budgets) as b (id uuid, amount numeric)
    ), budget as (
      select id from budgets where workspace_id = ${workspaceId} and id = any (array(select id from due)) order by id for no key update
    ), budgeted as (
      update budgets set reserved = greatest(budgets.reserved - due.amount, 0), month = greatest(budgets.month, ${month}::date),
        used = ${usedIn(month)} + case unit when 'operations' then ${costOps} else ${costUsd}::numeric end,
        estimate = case unit when 'operations' then 1
          else greatest(${LEAST_ESTIMATE_USD}, ${costUsd}::numeric, round(estimate * ${ESTIMATE_KEPT}::numeric, 10)) end
      from due join budget using (id) where budgets.workspace_id = ${workspaceId} and budgets.id = due.id
      returning 1
    )`;
}

/**
 * Common table expressions that release what a turn had reserved, and charge no credits: it has no reply. What it cost in USD counts to
 * its budgets all the same. `condition` keeps the reservation while it is false.
 */
export function releasing(turn: EndedTurn, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const { workspaceId, turnId } = turn;
  return sql`reservation as (
      delete from credit_reservations where workspace_id = ${workspaceId} and turn_id = ${turnId} and ${condition}
      returning client_id, credits, budgets
    ), released as (
      update credit_accounts set reserved = credit_accounts.reserved - reservation.credits
      from reservation where credit_accounts.workspace_id = ${workspaceId} and credit_accounts.client_id = reservation.client_id
      returning 1
    )${settlingBudgets(turn)}`;
}

/** A turn that ends with a reply, and the reply that carries its price. */
interface AnsweredTurn {
  workspaceId: string;
  conversationId: string;
  turnId: string;
  costUsd: number;
  costOps: number;
  messageId: string;
  now: Date;
}

/**
 * Common table expressions that decide which lots the turn is charged to: included ones before bought ones, of each the soonest expiring
 * first, then by priority. `burned` has what each of them gives. They come before `conversation`; see `checkingPayment` for the locks.
 */
export function burning({ workspaceId, conversationId, turnId, costOps }: AnsweredTurn): RawBuilder<unknown> {
  return sql`held as (
      select client_id from conversations
      where workspace_id = ${workspaceId} and id = ${conversationId} and turn_id = ${turnId} for no key update
    ), account as (
      select client_id, is_unlimited, may_use_extra, usage_period from credit_accounts
      where workspace_id = ${workspaceId} and client_id = (select client_id from held) for no key update
    ), lot as (
      select id, source, remaining, expires_at, priority from credit_lots
      where workspace_id = ${workspaceId} and client_id = (select client_id from account where not is_unlimited) and closed_at is null
        and remaining > 0 and (source <> 'extra' or (select may_use_extra from account))
      for no key update
    ), burned as (
      select id, source, -least(remaining, ${costOps} - before) as by from (
        select id, source, remaining, coalesce(sum(remaining) over (order by source = 'extra', expires_at nulls last, priority, id
          rows between unbounded preceding and 1 preceding), 0) as before from lot
      ) as ordered where before < ${costOps}
    ), `;
}

/**
 * SQL condition of the change of `conversation`. It is always true. What it counts is read and locked before that change: rows that a
 * statement has changed itself are not there any more for its locks.
 */
export const burnedFirst = sql<boolean>`(select count(*) from account) + (select count(*) from burned) >= 0`;

/** SQL condition: the lots cover what the turn costs. */
export const covers = (costOps: number): RawBuilder<boolean> =>
  sql<boolean>`(not exists (select from account where not is_unlimited) or (select -coalesce(sum(by), 0) from burned) = ${costOps})`;

/**
 * Common table expressions that charge what `burned` says and end the reservation, once `conversation` has its row. What no lot covers is
 * an entry without a lot: a client without a limit has no need of one, and lots may be closed while a turn runs.
 */
export function settling(turn: AnsweredTurn): RawBuilder<unknown> {
  const { workspaceId, turnId, costUsd, costOps, messageId, now } = turn;
  const ended = { ...turn, turnId: sql`${turnId}`, costUsd: sql`${costUsd}::float8` };
  const reserved = sql`coalesce((select credits from reservation where reservation.client_id = credit_accounts.client_id), 0)`;
  const charged = sql`, lots as (
      update credit_lots set remaining = credit_lots.remaining + burned.by from burned
      where credit_lots.workspace_id = ${workspaceId} and credit_lots.id = burned.id and exists (select from conversation)
    ), entry as (
      insert into credit_entries (workspace_id, id, client_id, lot_id, key, kind, amount, usage_period, turn_id, message_id, created_at)
      select ${workspaceId}, gen_random_uuid(), account.client_id, used.id, ${turnId}, 'use', used.by, account.usage_period, ${turnId}, ${messageId}, ${now}
      from account, (
        select id, by from burned
        union all select null, -${costOps}::bigint - coalesce(sum(by), 0) from burned having coalesce(sum(by), 0) > -${costOps}::bigint
      ) as used where exists (select from conversation)
    )`;
  return sql`, reservation as (
      delete from credit_reservations where workspace_id = ${workspaceId} and turn_id = ${turnId} and exists (select from conversation)
      returning client_id, credits, budgets
    )${costOps > 0 ? charged : sql``}, charged as (
      update credit_accounts set reserved = reserved - ${reserved}, used_this_period = used_this_period + ${costOps},
        included = included + coalesce((select sum(by) from burned where source <> 'extra'), 0),
        extra = extra + coalesce((select sum(by) from burned where source = 'extra'), 0)
      where workspace_id = ${workspaceId} and client_id = (select client_id from account) and exists (select from conversation)
    )${settlingBudgets(ended)}`;
}
