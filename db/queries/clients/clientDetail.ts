import { type Kysely, type Selectable, sql } from 'kysely';
import type { DB, Plans } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import type { ClientRow } from './clients.ts';
import { type InvitedUserRow, selectClientUsers } from './clientUsers.ts';

/** What is shown of a client's plan. */
export type ShownPlan = Pick<
  Selectable<Plans>,
  | 'id'
  | 'name'
  | 'price_cents'
  | 'currency'
  | 'billing_type'
  | 'billing_interval_months'
  | 'seats_included'
  | 'unlimited_credits'
> & { credits_included: number };

/** A client with its plans and users. */
export interface ClientDetail {
  client: ClientRow;
  plan: ShownPlan | undefined;
  pendingPlan: ShownPlan | undefined;
  users: InvitedUserRow[];
}

/** The client with its plans and users, if it exists in the workspace and is not deleted. */
export async function findClientDetail(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<ClientDetail | undefined> {
  const client = await db
    .selectFrom('clients')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .executeTakeFirst();
  if (!client) return undefined;
  const ids = [client.plan_id, client.pending_plan_id].filter((each) => each !== null);
  const plans = ids.length === 0 ? [] : await selectShownPlans(db, workspaceId, ids);
  return {
    client,
    plan: plans.find((plan) => plan.id === client.plan_id),
    pendingPlan: plans.find((plan) => plan.id === client.pending_plan_id),
    users: await selectClientUsers(db, client),
  };
}

/** Plans by their ids. One that was deleted since is still the plan that a canceled client had. */
function selectShownPlans(db: Kysely<DB>, workspaceId: string, ids: readonly string[]): Promise<ShownPlan[]> {
  return db
    .selectFrom('plans as p')
    .leftJoin('credit_packages as k', (join) =>
      join.on('k.workspace_id', '=', workspaceId).onRef('k.id', '=', 'p.credit_package_id'),
    )
    .where('p.workspace_id', '=', workspaceId)
    .where('p.id', 'in', ids)
    .select(['p.id', 'p.name', 'p.price_cents', 'p.currency', 'p.billing_type', 'p.billing_interval_months'])
    .select(['p.seats_included', 'p.unlimited_credits'])
    .select(
      sql<number>`coalesce(k.credits_amount::bigint + coalesce(k.extra_credits_amount, 0), 0)`.as('credits_included'),
    )
    .execute();
}
