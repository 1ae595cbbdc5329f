import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { compileOnce } from '../../compiled.ts';
import { likeContains } from '../shared/like.ts';
import { newestFirst, type Page } from '../shared/page.ts';
import type { ClientRow, ClientStatus } from './clients.ts';

/** What narrows a list of clients; absent = no restriction. */
export interface ClientFilter {
  status: ClientStatus | undefined;
  search: string | undefined;
}

/** A client in a list. */
export type ListedClient = Pick<ClientRow, 'id' | 'name' | 'status' | 'created_at'> & {
  /** Of the plan; null without one. */
  plan_name: string | null;
  price_cents: number | null;
  seats_included: number | null;
  unlimited_credits: boolean | null;
  /** Credits that the plan includes, those of a bonus among them. */
  credits_included: number;
  users: number;
  /** What the model calls of its conversations have cost, in USD. */
  cost_usd: number;
};

interface ClientListArgs {
  workspaceId: string;
  /** Null = any. */
  status: ClientStatus | null;
  /** For LIKE; null = any. */
  pattern: string | null;
}

function matchingClients(db: Kysely<DB>, { workspaceId, status, pattern }: ClientListArgs) {
  return db
    .selectFrom('clients')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`(${status}::text is null or status = ${status})`)
    .where(
      sql<boolean>`(${pattern}::text is null or name ilike ${pattern} or id in (
        select u.client_id from client_users u where u.workspace_id = ${workspaceId} and u.deleted_at is null
          and (u.name ilike ${pattern} or u.email ilike ${pattern})))`,
    );
}

// The figures are computed for the rows of the page only.
const clientPage = compileOnce((db, args: ClientListArgs & Page) => {
  const { workspaceId } = args;
  const page = matchingClients(db, args)
    .select(['id', 'name', 'status', 'plan_id', 'created_at'])
    .select(sql<number>`count(*) over ()`.as('total'))
    .$call(newestFirst)
    .limit(args.limit)
    .offset(args.offset);
  return db
    .selectFrom(page.as('c'))
    .leftJoin('plans as p', (join) => join.on('p.workspace_id', '=', workspaceId).onRef('p.id', '=', 'c.plan_id'))
    .leftJoin('credit_packages as k', (join) =>
      join.on('k.workspace_id', '=', workspaceId).onRef('k.id', '=', 'p.credit_package_id'),
    )
    .select(['c.id', 'c.name', 'c.status', 'c.created_at', 'c.total'])
    .select(['p.name as plan_name', 'p.price_cents', 'p.seats_included', 'p.unlimited_credits'])
    .select(
      sql<number>`coalesce(k.credits_amount::bigint + coalesce(k.extra_credits_amount, 0), 0)`.as('credits_included'),
    )
    .select(
      sql<number>`(select count(*) from client_users u
        where u.workspace_id = ${workspaceId} and u.client_id = c.id and u.deleted_at is null)`.as('users'),
    )
    .select(
      sql<number>`(select coalesce(sum(v.cost_usd), 0) from conversations v
        where v.workspace_id = ${workspaceId} and v.client_id = c.id)`.as('cost_usd'),
    )
    .orderBy('c.created_at', 'desc')
    .orderBy('c.id', 'desc');
});

const clientCount = compileOnce((db, args: ClientListArgs) =>
  matchingClients(db, args).select(sql<number>`count(*)`.as('total')),
);

/** A page of clients, newest first, and how many there are on all pages. Users that were removed are not searched. */
export async function selectClients(
  db: Kysely<DB>,
  workspaceId: string,
  { status, search }: ClientFilter,
  page: Page,
): Promise<{ rows: ListedClient[]; total: number }> {
  const args = { workspaceId, status: status ?? null, pattern: search ? likeContains(search) : null };
  const rows = await clientPage(db, { ...args, ...page });
  if (rows[0]) return { rows, total: rows[0].total };
  if (page.offset === 0) return { rows, total: 0 };
  // Beyond the last page there is no row to tell the total.
  const [counted] = await clientCount(db, args);
  return { rows, total: counted?.total ?? 0 };
}
