import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { monthNamed } from '../workspaces/usage.ts';

/** What a turn may have to pay for, and reserves as it begins. */
export interface Payment {
  /** The client that pays for a conversation that begins; null = nobody. A conversation that is continued knows its own. */
  payer: string | null;
  /** Of a conversation that begins. */
  externalUserId: string;
  /** Whether the workspace has budgets. */
  hasBudgets: boolean;
}

/** A turn as its payment needs it. */
interface PayingStart {
  workspaceId: string;
  turnId: string;
  agentId: string;
  kind: 'message' | 'follow_up' | 'continuation';
  now: Date;
}

/** The first day of the month, in UTC. */
export const budgetMonthOf = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`;

/** A continuation completes a turn that was charged. */
const creditsOf = ({ kind }: Pick<PayingStart, 'kind'>): number => (kind === 'continuation' ? 0 : 1);

/** The statuses in which a client's messages are answered. */
export const PAYING_STATUSES = ['active', 'trialing'] as const;

/** SQL query: who a conversation that begins belongs to. */
export function payerOfNew({ payer, externalUserId }: Payment): RawBuilder<unknown> {
  return sql`select ${payer}::uuid as client_id, ${externalUserId}::text as external_user_id`;
}

/** SQL value: what an account has left for new turns. Credits that were bought count where they may be used, and debts always. */
export const available = sql<number>`included + case when may_use_extra or extra < 0 then extra else 0 end - reserved`;

/** SQL value: what is used of a budget in the month. */
export const usedIn = (month: string): RawBuilder<number> =>
  sql<number>`case when budgets.month < ${month}::date then 0 else budgets.used end`;

/** SQL value: what a turn reserves of a budget. */
const needOf = (start: Pick<PayingStart, 'kind'>): RawBuilder<number> => {
  const credits = creditsOf(start);
  return credits === 0 ? sql<number>`0` : sql<number>`case unit when 'operations' then 1 else estimate end`;
};

/** SQL condition: the budget holds for the turn that the row of `subject` describes. */
const holdsFor = ({
  workspaceId,
  agentId,
}: Pick<PayingStart, 'workspaceId' | 'agentId'>): RawBuilder<boolean> => sql<boolean>`workspace_id = ${workspaceId}
        and exists (select from subject) and (scope, target) in (('workspace', ${workspaceId}::text), ('agent', ${agentId}::text),
          ('client', (select client_id::text from subject)), ('end_user', (select external_user_id from subject)))`;

/**
 * Common table expressions that lock what a turn will reserve on and decide whether it may: `refused` has a row if not. They read
 * `subject`, the conversation that the turn will hold; without a row of it they refuse nothing. Locks are taken in one order
 * everywhere: the conversation, the account, its lots, the budgets by their ids.
 */
export function checkingPayment(start: PayingStart, { hasBudgets }: Payment): RawBuilder<unknown> {
  const { workspaceId, now } = start;
  const credits = creditsOf(start);
  const account = sql`account as (
      select is_unlimited, ${available} as available from credit_accounts
      where workspace_id = ${workspaceId} and client_id = (select client_id from subject) for no key update
    )`;
  const budget = sql`, budget as (
      select id, ${needOf(start)} as need, amount - reserved - ${usedIn(budgetMonthOf(now))} as available from budgets
      where ${holdsFor(start)} order by id for no key update
    )`;
  // A continuation goes on with a turn that was let in.
  const broke = sql`select from subject where client_id is not null and not (
        exists (select from clients where workspace_id = ${workspaceId} and id = subject.client_id
          and status = any (${PAYING_STATUSES}::text[]) and ${notDeletedByKey()})
        and exists (select from account where is_unlimited or available >= ${credits}))`;
  const over = sql` union all select from budget where need > available`;
  const refused = credits === 0 ? sql`select where false` : sql`${broke}${hasBudgets ? over : sql``}`;
  return sql`${account}${hasBudgets ? budget : sql``}, refused as (${refused}), `;
}

/** Common table expressions that reserve what the turn will need, once `conversation` has its row. */
export function reserving(start: PayingStart, { hasBudgets }: Payment): RawBuilder<unknown> {
  const { workspaceId, turnId, now } = start;
  const credits = creditsOf(start);
  const month = budgetMonthOf(now);
  const budgets = sql`, budgeted as (
      update budgets set reserved = budgets.reserved + budget.need, used = ${usedIn(month)}, month = greatest(budgets.month, ${month}::date)
      from budget where budgets.workspace_id = ${workspaceId} and budgets.id = budget.id and exists (select from conversation)
    )`;
  const ofBudgets = sql`coalesce((select jsonb_agg(jsonb_build_object('id', id, 'amount', need)) from budget), '[]')`;
  return sql`, reserved as (
      update credit_accounts set reserved = reserved + ${credits}
      where workspace_id = ${workspaceId} and client_id = (select client_id from conversation) and not is_unlimited
      returning ${credits}::bigint as credits
    )${hasBudgets ? budgets : sql``}, reservation as (
      insert into credit_reservations (workspace_id, turn_id, conversation_id, client_id, credits, budgets)
      select workspace_id, ${turnId}, id, client_id, coalesce((select credits from reserved), 0), ${hasBudgets ? ofBudgets : sql`'[]'`}
      from conversation where exists (select from reserved) ${hasBudgets ? sql`or exists (select from budget)` : sql``}
    )`;
}

/** Why a turn may not begin, as far as it is about who pays for it. */
export interface PaymentRefusal {
  reason: 'client_unknown' | 'client_not_active' | 'credits' | 'budget';
  /** When it may be otherwise; null = not known. */
  until: Date | null;
}

/**
 * Why `checkingPayment` refuses a turn, or would; undefined when it does not, which can be so a moment after it did. Nothing is locked.
 * `conversationId` is that of a conversation that is continued.
 */
export async function findPaymentRefusal(
  db: Kysely<DB>,
  start: Omit<PayingStart, 'turnId'> & { conversationId: string | undefined },
  payment: Payment,
): Promise<PaymentRefusal | undefined> {
  const { workspaceId, conversationId, now } = start;
  if (creditsOf(start) === 0) return undefined;
  const month = budgetMonthOf(now);
  const subject = conversationId
    ? sql`select client_id, external_user_id from conversations where workspace_id = ${workspaceId} and id = ${conversationId}`
    : payerOfNew(payment);
  const { rows } = await sql<{
    client_id: string | null;
    status: string | null;
    renewal_at: Date | null;
    can_pay: boolean | null;
    is_over: boolean;
  }>`
    with subject as (${subject})
    select subject.client_id, c.status, c.next_credit_renewal_at as renewal_at, a.is_unlimited or a.available >= 1 as can_pay,
      exists (select from budgets where ${holdsFor(start)} and ${needOf(start)} > amount - reserved - ${usedIn(month)}) as is_over
    from subject
    left join clients c on c.workspace_id = ${workspaceId} and c.id = subject.client_id and ${notDeletedByKey('c.deleted_at')}
    left join lateral (
      select is_unlimited, ${available} as available from credit_accounts
      where workspace_id = ${workspaceId} and client_id = subject.client_id
    ) as a on true`.execute(db);
  const [found] = rows;
  const isNamed = conversationId === undefined && payment.payer !== null;
  if (isNamed && !found?.status) return { reason: 'client_unknown', until: null };
  if (!found) return undefined;
  const { client_id, status, renewal_at, can_pay, is_over } = found;
  if (client_id !== null) {
    if (!(PAYING_STATUSES as readonly (string | null)[]).includes(status))
      return { reason: 'client_not_active', until: null };
    if (can_pay !== true) return { reason: 'credits', until: renewal_at && renewal_at > now ? renewal_at : null };
  }
  if (!is_over) return undefined;
  return { reason: 'budget', until: monthNamed(month.slice(0, 7)).end };
}
