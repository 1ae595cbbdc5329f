import { type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { DB, Hubs } from '../../../generated/db.ts';

/** The hub of a workspace, with the name of its default plan: null when there is none, or it was deleted. */
export type HubRow = Selectable<Hubs> & { default_plan_name: string | null };

/** The hub of a workspace; undefined until `ensureHub` has made it. */
export async function findHub(db: Kysely<DB>, workspaceId: string): Promise<HubRow | undefined> {
  return await db
    .selectFrom('hubs as h')
    .leftJoin('plans as p', (join) =>
      join
        .onRef('p.workspace_id', '=', 'h.workspace_id')
        .onRef('p.id', '=', 'h.default_plan_id')
        .on('p.deleted_at', 'is', null),
    )
    .selectAll('h')
    .select('p.name as default_plan_name')
    .where('h.workspace_id', '=', workspaceId)
    .executeTakeFirst();
}

/**
 * The hub of a workspace. Makes it if there is none, private, without a subdomain and called like the workspace: one, however many
 * ask at once. Throws when the workspace does not exist.
 */
export async function ensureHub(db: Kysely<DB>, workspaceId: string, now: Date = new Date()): Promise<HubRow> {
  const known = await findHub(db, workspaceId);
  if (known) return known;
  await sql`
    insert into hubs (workspace_id, id, name, created_at, updated_at)
    select id, ${newId()}::uuid, name, ${now}::timestamptz, ${now}::timestamptz from workspaces where id = ${workspaceId}
    on conflict (workspace_id) do nothing`.execute(db);
  // A statement of its own sees the row of another one that was faster.
  const made = await findHub(db, workspaceId);
  if (!made) throw new Error(`There is no workspace ${workspaceId}`);
  return made;
}

/** The hub, made if there is none, and locked until the transaction ends: changes of access, names and logos take turns. */
export async function lockHub(trx: Transaction<DB>, workspaceId: string, now: Date): Promise<HubRow> {
  await ensureHub(trx, workspaceId, now);
  await trx
    .selectFrom('hubs')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  // Read after the lock, so that it is what the last holder left.
  return await ensureHub(trx, workspaceId, now);
}

/** Changes the hub; absent = unchanged. Returns it as it is then. Call `ensureHub` or `lockHub` before. */
export async function updateHubRow(
  db: Kysely<DB>,
  workspaceId: string,
  change: Omit<Updateable<Hubs>, 'workspace_id' | 'id'> & { updated_at: Date },
): Promise<HubRow> {
  await db.updateTable('hubs').set(change).where('workspace_id', '=', workspaceId).execute();
  return await ensureHub(db, workspaceId);
}

/**
 * Whether the plan is what people get who sign up to the hub, so that it must stay free. Call it in a transaction that holds the plan's
 * row: `updateHubAccess` holds the row, too, when it opens the hub.
 */
export async function isDefaultOfPublicHub(db: Kysely<DB>, workspaceId: string, planId: string): Promise<boolean> {
  const row = await db
    .selectFrom('hubs')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('default_plan_id', '=', planId)
    .where('access_type', '=', 'public')
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes a plan that is deleted out of the hub's settings: it is the default no more, and no trial is offered on it. */
export async function updateHubsWithoutPlan(trx: Transaction<DB>, workspaceId: string, planId: string): Promise<void> {
  await trx
    .updateTable('hubs')
    .set({ default_plan_id: null })
    .where('workspace_id', '=', workspaceId)
    .where('default_plan_id', '=', planId)
    .execute();
  await trx
    .updateTable('hubs')
    .set({ trial_plan_id: null, trial_days: null })
    .where('workspace_id', '=', workspaceId)
    .where('trial_plan_id', '=', planId)
    .execute();
}

/** Hubs of all workspaces with logos that the payment provider of their connected account does not show yet. */
export async function findHubsToBrand(system: Kysely<DB>, limit: number): Promise<{ workspaceId: string }[]> {
  return await system
    .selectFrom('hubs')
    .select('workspace_id as workspaceId')
    .where('payment_mode', '=', 'account')
    .where('branding_synced_at', 'is', null)
    .where((where) => where.or([where('logo_icon_key', 'is not', null), where('logo_horizontal_key', 'is not', null)]))
    .limit(limit)
    .execute();
}
