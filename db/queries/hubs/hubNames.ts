import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { DB, HubNames, Workspaces } from '../../../generated/db.ts';

/** A name that leads to a hub, did so, or will once it is verified. */
export type HubNameRow = Selectable<HubNames>;

/** Whose hub a name leads to, and what the workspace may have under way. */
export type HubNameOwner = Pick<HubNameRow, 'workspace_id' | 'name' | 'kind'> &
  Pick<Selectable<Workspaces>, 'request_limit'>;

/**
 * Whose hubs these names lead to, in any order: subdomains (without a dot) that a hub has, and custom domains that are verified, in lower
 * case. Names that lead nowhere are left out. `keys` sees the names of all workspaces, and gives up after some seconds.
 */
export async function findHubsByNames(keys: Kysely<DB>, names: readonly string[]): Promise<HubNameOwner[]> {
  return await keys
    .selectFrom('hub_names')
    .innerJoin('workspaces', 'workspaces.id', 'hub_names.workspace_id')
    .select(['hub_names.workspace_id', 'hub_names.name', 'kind', 'request_limit'])
    .where(sql<boolean>`hub_names.name = any(${names}::text[])`)
    .where('released_at', 'is', null)
    .where((where) => where.or([where('kind', '=', 'subdomain'), where('verified_at', 'is not', null)]))
    .where('workspaces.deleted_at', 'is', null)
    .execute();
}

/** Whose hub a name leads to; undefined when it leads nowhere. As findHubsByNames. */
export async function findHubByName(keys: Kysely<DB>, name: string): Promise<HubNameOwner | undefined> {
  return (await findHubsByNames(keys, [name]))[0];
}

/** The row of a name, whatever its state. `keys` sees all workspaces. */
export async function findHubName(keys: Kysely<DB>, name: string): Promise<HubNameRow | undefined> {
  return await keys.selectFrom('hub_names').selectAll().where('name', '=', name).executeTakeFirst();
}

/** Frees a name that was given up at `before` at the latest. `keys` sees all workspaces. */
export async function removeHubName(keys: Kysely<DB>, name: string, before: Date): Promise<void> {
  await keys.deleteFrom('hub_names').where('name', '=', name).where('released_at', '<=', before).execute();
}

/** Gives a workspace a name. Fails on `hub_names_pkey` when there is a row of it, whosever it is. */
export async function insertHubName(db: Kysely<DB>, row: Insertable<HubNames>): Promise<void> {
  await db.insertInto('hub_names').values(row).execute();
}

/** Lets a subdomain that the hub gave up lead to it again. Returns whether there was one. */
export async function takeBackName(db: Kysely<DB>, workspaceId: string, name: string): Promise<boolean> {
  const result = await db
    .updateTable('hub_names')
    .set({ released_at: null })
    .where('workspace_id', '=', workspaceId)
    .where('name', '=', name)
    .where('kind', '=', 'subdomain')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Lets a name lead nowhere from now on. */
export async function releaseName(db: Kysely<DB>, workspaceId: string, name: string, now: Date): Promise<void> {
  await db
    .updateTable('hub_names')
    .set({ released_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('name', '=', name)
    .execute();
}

/** When the hub gave up the names that it still blocks, earliest first. */
export async function selectReleases(db: Kysely<DB>, workspaceId: string): Promise<Date[]> {
  const rows = await db
    .selectFrom('hub_names')
    .select('released_at')
    .where('workspace_id', '=', workspaceId)
    .where('released_at', 'is not', null)
    .orderBy('released_at')
    .execute();
  return rows.flatMap(({ released_at }) => released_at ?? []);
}

/** Frees the names that the hub gave up at `before` at the latest. */
export async function removeOldNames(db: Kysely<DB>, workspaceId: string, before: Date): Promise<void> {
  await db.deleteFrom('hub_names').where('workspace_id', '=', workspaceId).where('released_at', '<=', before).execute();
}

/** Notes that a custom domain was proven. Returns whether the hub still has it, with this token. */
export async function verifyHubDomain(
  db: Kysely<DB>,
  workspaceId: string,
  { name, token, now }: { name: string; token: string; now: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('hub_names')
    .set({ verified_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('name', '=', name)
    .where('token', '=', token)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Takes a custom domain from a hub; `unverified`: only while it was not proven. Returns whether it was there. */
export async function removeHubDomain(
  db: Kysely<DB>,
  workspaceId: string,
  name: string,
  { unverified = false } = {},
): Promise<boolean> {
  let query = db
    .deleteFrom('hub_names')
    .where('workspace_id', '=', workspaceId)
    .where('name', '=', name)
    .where('kind', '=', 'domain');
  if (unverified) query = query.where('verified_at', 'is', null);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** The custom domains of a hub by name. */
export async function selectHubDomains(db: Kysely<DB>, workspaceId: string): Promise<HubNameRow[]> {
  return await db
    .selectFrom('hub_names')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'domain')
    .orderBy('name')
    .execute();
}
