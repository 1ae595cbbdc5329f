import { sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import { lockAccount } from './accounts.ts';
import type { LotChange } from './lots.ts';

/** How much of a grant is to be taken back in all: `part` of `whole`. */
export interface ReversedShare extends LotChange {
  grantKey: string;
  part: number;
  whole: number;
}

/**
 * Brings what was taken back of each lot of a grant to the share, rounded down to whole credits: more is taken, or some is given back. What
 * expired cannot be taken, and what is given back to a lot whose time has passed only ends its debt. Returns the credits taken, negative
 * where some were given back.
 */
export async function updateReversedShare(trx: Transaction<DB>, change: ReversedShare): Promise<number> {
  const { workspaceId, clientId, grantKey, part, whole, key, now } = change;
  await lockAccount(trx, workspaceId, clientId);
  const { rows } = await sql<{ reversed: number }>`
    with lot as (
      select l.id, l.source, l.amount, l.remaining, l.expires_at, coalesce(sum(e.amount) filter (where e.kind = 'expiry'), 0) as expired,
        coalesce(sum(e.amount) filter (where e.kind = 'reversal'), 0) as reversed
      from credit_lots l left join credit_entries e on e.workspace_id = ${workspaceId} and e.lot_id = l.id
      where l.workspace_id = ${workspaceId} and l.client_id = ${clientId} and l.grant_key = ${grantKey}
      group by l.id, l.source, l.amount, l.remaining, l.expires_at
    ), wanted as (
      select id, source, amount, remaining, expires_at,
        -least(floor(amount::numeric * ${part}::bigint / ${whole}::bigint), amount + expired)::bigint - reversed as by from lot
    ), changed as (
      select id, source, (case when by > 0 and expires_at <= ${now} then least(by, greatest(0, -remaining))
        when by > 0 then least(by, amount - remaining) else by end)::bigint as by
      from wanted
    ), done as (
      update credit_lots l set remaining = l.remaining + changed.by,
        closed_at = case when l.remaining + changed.by < 0 then null else l.closed_at end
      from changed where l.workspace_id = ${workspaceId} and l.id = changed.id and changed.by <> 0
    ), entry as (
      insert into credit_entries (workspace_id, id, client_id, lot_id, key, kind, amount, created_at)
      select ${workspaceId}, gen_random_uuid(), ${clientId}, id, ${key}, 'reversal', by, ${now} from changed where by <> 0
    ), account as (
      update credit_accounts set
        included = included + coalesce((select sum(by) from changed where source <> 'extra'), 0),
        extra = extra + coalesce((select sum(by) from changed where source = 'extra'), 0)
      where workspace_id = ${workspaceId} and client_id = ${clientId} and exists (select from changed where by <> 0)
    )
    select coalesce(-sum(by), 0)::bigint as reversed from changed`.execute(trx);
  return rows[0]?.reversed ?? 0;
}
