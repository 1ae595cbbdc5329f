import { sql } from 'kysely';
import { discounted } from '../../../domain/billing/redemptions.ts';
import { balancesOf } from '../../../domain/credits/credits.ts';
import type { SeededWorkspace } from '../../support/db/database.ts';
import { balances, type ModelClient } from './model.ts';

/** What a client has, as text and numbers that can be compared. */
interface Facts {
  status: string;
  plan: string | null;
  start: number | null;
  end: number | null;
  next: number | null;
  pending: string | null;
  pendingAt: number | null;
  subscription: string | null;
  coupon: string | null;
  /** What a period costs, after the coupon. */
  cents: number | null;
  included: number;
  extra: number;
  used: number;
  reserved: number;
}

/** What a client has by the rules. A coupon takes 15 per cent, rounded to the cent, a half up. */
export function factsOf(client: ModelClient): Facts {
  const { status, plan, start, end, next, pending, subscription, coupon } = client;
  const price = plan?.price ?? null;
  return {
    status,
    plan: plan?.id ?? null,
    start,
    end,
    next,
    pending: pending?.plan.id ?? null,
    pendingAt: pending?.at ?? null,
    subscription,
    coupon,
    cents: price === null ? null : coupon ? price - Math.round(price * 0.15) : price,
    ...balances(client),
    reserved: 0,
  };
}

/** What is stored of a hub's clients; `unequal` has the accounts whose sums are not those of their lots and entries. */
export async function storedFacts({ workspaceId, db }: Pick<SeededWorkspace, 'workspaceId' | 'db'>) {
  const rows = await db.selectFrom('clients').selectAll().where('workspace_id', '=', workspaceId).execute();
  const plans = await db
    .selectFrom('plans')
    .select(['id', 'price_cents'])
    .where('workspace_id', '=', workspaceId)
    .execute();
  const coupon = await db
    .selectFrom('coupons')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  const reserved = await db
    .selectFrom('credit_accounts')
    .select(['client_id', 'reserved'])
    .where('workspace_id', '=', workspaceId)
    .execute();
  const found = await balancesOf(
    db,
    workspaceId,
    rows.map(({ id }) => id),
  );
  const clients = new Map(
    rows.map((row): [string, Facts] => {
      const balance = found.get(row.id);
      const price = plans.find(({ id }) => id === row.plan_id)?.price_cents ?? null;
      return [
        row.id,
        {
          status: row.status,
          plan: row.plan_id,
          start: row.period_start?.getTime() ?? null,
          end: row.period_end?.getTime() ?? null,
          next: row.next_credit_renewal_at?.getTime() ?? null,
          pending: row.pending_plan_id,
          pendingAt: row.pending_plan_at?.getTime() ?? null,
          subscription: row.provider_subscription_id,
          coupon: row.coupon_id,
          cents: price === null ? null : row.coupon_id ? discounted(price, coupon) : price,
          included: balance?.included ?? 0,
          extra: balance?.extra ?? 0,
          used: balance?.usedThisPeriod ?? 0,
          reserved: reserved.find(({ client_id }) => client_id === row.id)?.reserved ?? 0,
        },
      ];
    }),
  );
  const { rows: unequal } = await sql`
    select a.client_id from credit_accounts a
    left join lateral (
      select coalesce(sum(remaining) filter (where source <> 'extra'), 0) as included, coalesce(sum(remaining) filter (where source = 'extra'), 0) as extra
      from credit_lots l where l.workspace_id = ${workspaceId} and l.client_id = a.client_id
    ) as lots on true
    left join lateral (
      select coalesce(sum(amount) filter (where lot_id is not null), 0) as amount from credit_entries e
      where e.workspace_id = ${workspaceId} and e.client_id = a.client_id
    ) as entries on true
    where a.workspace_id = ${workspaceId}
      and (a.included <> lots.included or a.extra <> lots.extra or entries.amount <> lots.included + lots.extra)`.execute(
    db,
  );
  return { clients, timesUsed: coupon.times_used, unequal };
}
