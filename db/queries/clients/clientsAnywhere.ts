import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';
import type { ClientKey, ClientRow, ClientStatus } from './clients.ts';

/** Clients that are looked at to find those of every workspace. */
const MAX_LOOKED_AT = 5_000;

/**
 * Clients of all workspaces at which something is due by itself: of each workspace the one that is due longest, then of each the next, so that a
 * workspace with thousands delays no other. Those in `except` are left out. The next time is when another client will be due.
 */
export async function findDueClients(
  system: Kysely<DB>,
  now: Date,
  { limit, except }: { limit: number; except: readonly string[] },
): Promise<Swept<ClientKey>> {
  const due = sql<ClientKey>`
    select workspace_id, id from (
      select workspace_id, id, due_at, row_number() over (partition by workspace_id order by due_at, id) as place
      from (
        select workspace_id, id, due_at from clients
        where due_at <= ${now} and not (id = any (${except}::uuid[])) order by due_at limit ${sql.lit(MAX_LOOKED_AT)}
      ) as due
    ) as placed
    order by place, due_at, id limit ${limit}`;
  const { rows } = await sweeping(due, sql`select min(due_at) from clients where due_at > ${now}`).execute(system);
  return sweptOf(rows);
}

/** A client of any workspace; it is named by its id alone. */
export async function findClientAnywhere(system: Kysely<DB>, id: string): Promise<ClientRow | undefined> {
  return await system
    .selectFrom('clients')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Clients of all workspaces or of one, newest first, with the names of their plans. */
export async function selectClientsAnywhere(
  system: Kysely<DB>,
  { workspaceId, status, limit }: { workspaceId: string | undefined; status: ClientStatus | undefined; limit: number },
): Promise<(ClientRow & { plan_name: string | null })[]> {
  let query = system
    .selectFrom('clients as c')
    .leftJoin('plans as p', (join) =>
      join.onRef('p.workspace_id', '=', 'c.workspace_id').onRef('p.id', '=', 'c.plan_id'),
    )
    .selectAll('c')
    .select('p.name as plan_name')
    .where('c.deleted_at', 'is', null);
  if (workspaceId !== undefined) query = query.where('c.workspace_id', '=', workspaceId);
  if (status !== undefined) query = query.where('c.status', '=', status);
  return await query.orderBy('c.created_at', 'desc').orderBy('c.id', 'desc').limit(limit).execute();
}
