import { type Insertable, type Selectable, sql, type Transaction } from 'kysely';
import type { DB, HubPackages } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';

/** What a plan gives access to. */
export type HubPackageRow = Selectable<HubPackages>;

/** The package, which is not removed until the transaction ends, for a plan that is going to use it. */
export function lockHubPackage(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<HubPackageRow | undefined> {
  return trx
    .selectFrom('hub_packages')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();
}

/**
 * Those of the ids that are agents, or external links, of the workspace and not deleted; none of them is deleted until the transaction ends.
 */
export async function lockExisting(
  trx: Transaction<DB>,
  table: 'agents' | 'external_links',
  workspaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await trx
    .selectFrom(table)
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .where(notDeletedByKey())
    // In one order, so that two transactions do not wait for each other.
    .orderBy('id')
    .forShare()
    .execute();
  return rows.map(({ id }) => id);
}

/** Stores a package with its agents and external links, in their order. */
export async function insertHubPackage(
  trx: Transaction<DB>,
  row: Insertable<HubPackages>,
  content: { agentIds: readonly string[]; linkIds: readonly string[] },
): Promise<void> {
  const key = { workspace_id: row.workspace_id, package_id: row.id };
  await trx.insertInto('hub_packages').values(row).execute();
  const agents = content.agentIds.map((agent_id, place) => ({ ...key, agent_id, place }));
  if (agents.length > 0) await trx.insertInto('hub_package_agents').values(agents).execute();
  const links = content.linkIds.map((link_id, place) => ({ ...key, link_id, place }));
  if (links.length > 0) await trx.insertInto('hub_package_links').values(links).execute();
}

/**
 * Removes a package that no plan uses any more. A deleted plan uses it as long as clients are on it or somebody is buying it.
 */
export async function removeUnusedHubPackage(trx: Transaction<DB>, workspaceId: string, id: string): Promise<void> {
  const locked = await trx
    .selectFrom('hub_packages')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!locked) return;
  // A statement of its own: it sees the plans that were made while the lock was waited for.
  const { used } = await trx
    .selectFrom('plans as p')
    .select(sql<number>`count(*)`.as('used'))
    .where('p.workspace_id', '=', workspaceId)
    .where('p.hub_package_id', '=', id)
    .where((eb) =>
      eb.or([
        eb('p.deleted_at', 'is', null),
        eb.exists(
          eb
            .selectFrom('clients as s')
            .select('s.id')
            .where('s.workspace_id', '=', workspaceId)
            .whereRef('s.plan_id', '=', 'p.id')
            .where('s.deleted_at', 'is', null),
        ),
        eb.exists(
          eb
            .selectFrom('checkouts as o')
            .select('o.id')
            .where('o.workspace_id', '=', workspaceId)
            .whereRef('o.plan_id', '=', 'p.id')
            .where('o.status', 'in', ['open', 'invoice']),
        ),
      ]),
    )
    .executeTakeFirstOrThrow();
  if (used > 0) return;
  await trx
    .updateTable('plans')
    .set({ hub_package_id: null })
    .where('workspace_id', '=', workspaceId)
    .where('hub_package_id', '=', id)
    .execute();
  await trx.deleteFrom('hub_packages').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
}
