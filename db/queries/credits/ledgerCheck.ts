import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** A sum that is stored, and is not what its parts add up to. */
export interface LedgerDifference {
  clientId: string;
  /** Null: of the client's account. */
  lotId: string | null;
  what: 'included' | 'extra' | 'reserved' | 'used_this_period' | 'remaining';
  stored: number;
  counted: number;
}

/** The workspaces that have clients with an account. */
export async function findWorkspacesWithAccounts(system: Kysely<DB>): Promise<string[]> {
  const rows = await system.selectFrom('credit_accounts').select('workspace_id').distinct().execute();
  return rows.map(({ workspace_id }) => workspace_id);
}

/**
 * Compares the accounts of a workspace with its lots, reservations and entries, and the lots with their entries. One statement, so
 * nothing changes meanwhile. At most `limit` differences.
 */
export async function findLedgerDifferences(
  db: Kysely<DB>,
  workspaceId: string,
  limit: number,
): Promise<LedgerDifference[]> {
  const { rows } = await sql<LedgerDifference>`
    with lots as (
      select client_id, sum(remaining) filter (where source <> 'extra') as included, sum(remaining) filter (where source = 'extra') as extra
      from credit_lots where workspace_id = ${workspaceId} group by client_id
    ), reservations as (
      select client_id, sum(credits) as reserved from credit_reservations
      where workspace_id = ${workspaceId} and client_id is not null group by client_id
    ), used as (
      select client_id, usage_period, -sum(amount) as used from credit_entries
      where workspace_id = ${workspaceId} and kind = 'use' group by client_id, usage_period
    ), entries as (
      select lot_id, sum(amount) as remaining from credit_entries
      where workspace_id = ${workspaceId} and lot_id is not null group by lot_id
    ), compared as (
      select a.client_id, null::uuid as lot_id, c.what, c.stored, coalesce(c.counted, 0)::bigint as counted
      from credit_accounts a
      left join lots l on l.client_id = a.client_id
      left join reservations r on r.client_id = a.client_id
      left join used u on u.client_id = a.client_id and u.usage_period = a.usage_period
      cross join lateral (values ('included', a.included, l.included), ('extra', a.extra, l.extra), ('reserved', a.reserved, r.reserved),
        ('used_this_period', a.used_this_period, u.used)) as c (what, stored, counted)
      where a.workspace_id = ${workspaceId}
      union all
      select l.client_id, l.id, 'remaining', l.remaining, coalesce(e.remaining, 0)::bigint
      from credit_lots l left join entries e on e.lot_id = l.id
      where l.workspace_id = ${workspaceId}
    )
    select client_id as "clientId", lot_id as "lotId", what, stored, counted from compared where stored <> counted
    order by client_id, lot_id nulls first, what limit ${limit}`.execute(db);
  return rows;
}
