import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { CreditPackages, DB, HubPackages, Plans } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { countRows, newestFirst, type Page, type PageOf } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';

/** What a plan is in words of its credit package: all null when it has none. */
interface PlanCredits {
  credit_package_name: CreditPackages['name'] | null;
  credit_value_cents: number | null;
  credits_amount: number | null;
  extra_credits_amount: number | null;
  renewal_interval_months: number | null;
}

/** A plan with its credit package. */
export type PlanRow = Selectable<Plans> & PlanCredits;

/** A plan as the API shows it: with its subscribers, its content and what its hub says of addresses and prices. */
export type ShownPlanRow = PlanRow & {
  active_subscriptions: number;
  package_name: HubPackages['name'];
  pages_count: number;
  agents_count: number;
  /** Null when the hub has no subdomain, or does not exist yet. */
  subdomain: string | null;
  /** Null when the hub does not exist yet. */
  locale: string | null;
};

/** The statuses of the clients that a plan counts as its active subscribers. */
export const SUBSCRIBED = ['active', 'trialing', 'past_due'] as const;

/** Plans, deleted ones too, with their credit packages: `p` is the plan. */
export function plansWithCredits(db: Kysely<DB>, workspaceId: string) {
  return db
    .selectFrom('plans as p')
    .leftJoin('credit_packages as c', (join) =>
      join.on('c.workspace_id', '=', workspaceId).onRef('c.id', '=', 'p.credit_package_id'),
    )
    .selectAll('p')
    .select([
      'c.name as credit_package_name',
      'c.credit_value_cents',
      'c.credits_amount',
      'c.extra_credits_amount',
      'c.renewal_interval_months',
    ])
    .where('p.workspace_id', '=', workspaceId)
    .$castTo<PlanRow>();
}

/**
 * A plan with its credit package. Deleted plans are found only with `deletedToo`: clients that were on one keep it.
 */
export function findPlan(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  { deletedToo = false } = {},
): Promise<PlanRow | undefined> {
  let query = plansWithCredits(db, workspaceId).where('p.id', '=', id);
  if (!deletedToo) query = query.where(notDeletedByKey('p.deleted_at'));
  return query.executeTakeFirst();
}

/** The plans that have a payment link at the provider, and are not deleted. */
export function selectPlansWithLinks(db: Kysely<DB>, workspaceId: string): Promise<PlanRow[]> {
  return plansWithCredits(db, workspaceId)
    .where('p.deleted_at', 'is', null)
    .where('p.provider_payment_link_id', 'is not', null)
    .execute();
}

/**
 * The plan, locked until the transaction ends; undefined when it does not exist or is deleted. `share`: price, content and existence stay,
 * for something that begins to refer to it (a subscriber, a coupon, the hub). `update`: nothing begins to refer to it, for a change or
 * its deletion. The row of the hub is locked before it, that of its credit package after it.
 */
export async function lockPlan(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  strength: 'share' | 'update',
): Promise<PlanRow | undefined> {
  const query = trx
    .selectFrom('plans')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey());
  const locked = await (strength === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst();
  // A statement of its own: it sees what was committed while this one waited for the lock.
  return locked && findPlan(trx, workspaceId, id);
}

function shownPlans(db: Kysely<DB>, workspaceId: string) {
  return plansWithCredits(db, workspaceId)
    .leftJoin('hub_packages as k', (join) =>
      join.on('k.workspace_id', '=', workspaceId).onRef('k.id', '=', 'p.hub_package_id'),
    )
    .leftJoin('hubs as h', (join) => join.on('h.workspace_id', '=', workspaceId))
    .select(['k.name as package_name', 'h.subdomain', 'h.locale'])
    .select(sql<number>`coalesce(cardinality(k.pages), 0)`.as('pages_count'))
    .select((eb) => [
      eb
        .selectFrom('clients as s')
        .select(sql<number>`count(*)`.as('clients'))
        .where('s.workspace_id', '=', workspaceId)
        .whereRef('s.plan_id', '=', 'p.id')
        .where('s.status', 'in', SUBSCRIBED)
        .where('s.deleted_at', 'is', null)
        .$asScalar()
        .as('active_subscriptions'),
      eb
        .selectFrom('hub_package_agents as g')
        .innerJoin('agents as a', (join) =>
          join.on('a.workspace_id', '=', workspaceId).onRef('a.id', '=', 'g.agent_id'),
        )
        .select(sql<number>`count(*)`.as('agents'))
        .where('g.workspace_id', '=', workspaceId)
        .whereRef('g.package_id', '=', 'p.hub_package_id')
        .where('a.deleted_at', 'is', null)
        .$asScalar()
        .as('agents_count'),
    ])
    .$castTo<ShownPlanRow>();
}

/** A plan as the API shows it, if it exists and is not deleted. */
export function findShownPlan(db: Kysely<DB>, workspaceId: string, id: string): Promise<ShownPlanRow | undefined> {
  return shownPlans(db, workspaceId).where('p.id', '=', id).where(notDeletedByKey('p.deleted_at')).executeTakeFirst();
}

/** A page of the plans, newest first. */
export async function selectPlans(
  db: Kysely<DB>,
  workspaceId: string,
  filter: { status: PlanRow['status'] | undefined },
  page: Page,
): Promise<PageOf<ShownPlanRow>> {
  let matching = db.selectFrom('plans').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (filter.status !== undefined) matching = matching.where('status', '=', filter.status);
  const onPage = await matching.select('id').$call(newestFirst).limit(page.limit).offset(page.offset).execute();
  const ids = onPage.map(({ id }) => id);
  // The counts are made outside the page's query, for the plans of the page only.
  const rows =
    ids.length === 0
      ? []
      : await shownPlans(db, workspaceId)
          .where('p.id', 'in', ids)
          .orderBy('p.created_at', 'desc')
          .orderBy('p.id', 'desc')
          .execute();
  return { rows, total: await countRows(matching) };
}

/** The plans that the pricing widget shows: visible, active, the cheapest first; at most `limit`. */
export function selectOfferedPlans(db: Kysely<DB>, workspaceId: string, limit: number): Promise<PlanRow[]> {
  return plansWithCredits(db, workspaceId)
    .where('p.status', '=', 'active')
    .where('p.visible', '=', true)
    .where('p.deleted_at', 'is', null)
    .orderBy('p.price_cents')
    .orderBy('p.created_at')
    .orderBy('p.id')
    .limit(limit)
    .execute();
}

/** Those of the plans that exist and are not deleted; price, content and existence stay until the transaction ends. */
export function lockPlans(
  trx: Transaction<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Pick<PlanRow, 'id' | 'currency' | 'provider_product_id'>[]> {
  return (
    trx
      .selectFrom('plans')
      .select(['id', 'currency', 'provider_product_id'])
      .where('workspace_id', '=', workspaceId)
      .where('id', 'in', ids)
      .where(notDeletedByKey())
      // In one order, so that two transactions do not wait for each other.
      .orderBy('id')
      .forShare()
      .execute()
  );
}

/** Stores a plan. Fails on `plans_name_key` when the name is taken, whatever its case. */
export async function insertPlan(trx: Transaction<DB>, row: Insertable<Plans>): Promise<void> {
  await trx.insertInto('plans').values(row).execute();
}

/** Changes columns of a plan. Fails on `plans_name_key`. */
export async function updatePlanRow(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<Plans>,
): Promise<void> {
  await trx
    .updateTable('plans')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .execute();
}

/** Marks the plan as deleted. Returns whether there was one. */
export function softDeletePlan(trx: Transaction<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return softDelete(trx, 'plans', { workspaceId, id }, now);
}

/** Whether a client is an active subscriber of the plan, or changes to it later. Call it in a transaction that holds the plan. */
export async function hasSubscribers(db: Kysely<DB>, workspaceId: string, planId: string): Promise<boolean> {
  const client = await db
    .selectFrom('clients')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.or([eb.and([eb('plan_id', '=', planId), eb('status', 'in', SUBSCRIBED)]), eb('pending_plan_id', '=', planId)]),
    )
    .limit(1)
    .executeTakeFirst();
  return client !== undefined;
}

/**
 * Gives the present subscribers of a plan what it offers more of now: credits without a limit, and extra credits, which also end at once. A limit
 * that is new holds from their next credits on.
 */
export async function updateTermsOfSubscribers(
  trx: Transaction<DB>,
  workspaceId: string,
  planId: string,
  { isUnlimited, mayUseExtra }: { isUnlimited: boolean; mayUseExtra: boolean },
): Promise<void> {
  await sql`
    update credit_accounts a set may_use_extra = ${mayUseExtra}, is_unlimited = a.is_unlimited or ${isUnlimited}
    from clients c
    where a.workspace_id = ${workspaceId} and c.workspace_id = ${workspaceId} and c.id = a.client_id and c.plan_id = ${planId}`.execute(
    trx,
  );
}
