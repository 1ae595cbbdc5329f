import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** The client that has a subscription at the provider, deleted ones left out. */
export async function findClientOfSubscription(
  db: Kysely<DB>,
  workspaceId: string,
  subscriptionId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('clients')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('provider_subscription_id', '=', subscriptionId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.id;
}

/** The plan whose price at the provider this is, deleted or not. */
export async function findPlanOfPrice(
  db: Kysely<DB>,
  workspaceId: string,
  priceId: string,
): Promise<{ id: string } | undefined> {
  return await db
    .selectFrom('plans')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('provider_price_id', '=', priceId)
    .executeTakeFirst();
}

/** The names of clients of a workspace that begin with this one, in lower case: those that a new client of that name may not have. */
export async function selectNamesLike(db: Kysely<DB>, workspaceId: string, name: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('clients')
    .select(sql<string>`lower(name)`.as('name'))
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`starts_with(lower(name), lower(${name}))`)
    .where('deleted_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.name));
}
