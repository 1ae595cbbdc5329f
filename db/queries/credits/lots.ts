import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { newId } from '../../../core/ids.ts';
import type { CreditLots, DB } from '../../../generated/db.ts';
import { type Swept, sweeping, sweptOf } from '../shared/swept.ts';
import { lockAccount } from './accounts.ts';

/** Where credits come from. */
export type CreditSource = 'plan' | 'package' | 'extra' | 'grant';

/** Of lots that expire at the same time, the one with the lowest is used first: granted before paid. */
const PRIORITIES: Readonly<Record<CreditSource, number>> = { grant: 0, package: 0, plan: 1, extra: 2 };

/** Credits that a client gets. */
export interface NewLot {
  workspaceId: string;
  clientId: string;
  source: CreditSource;
  /** At least 1. */
  amount: number;
  /** Null: they stay until they are used. */
  expiresAt: Date | null;
  /** What grants them: one cause grants nothing twice from one source. */
  key: string;
  now: Date;
  note?: string | undefined;
}

/** SQL value: new ids for rows that a statement makes. PostgreSQL 15 to 17 make none of version 7. */
const anyId = sql`gen_random_uuid()`;

/** SQL assignments: adds `by`, a sum over the lots of each source, to the sums of an account. */
function addingSums(changed: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`included = included + coalesce((select sum(by) from ${changed} where source <> 'extra'), 0),
        extra = extra + coalesce((select sum(by) from ${changed} where source = 'extra'), 0)`;
}

/** Stores a lot and its entry. False when the same cause has granted from this source before; then nothing is stored. */
export async function insertLot(trx: Transaction<DB>, lot: NewLot): Promise<boolean> {
  const { workspaceId, clientId, source, amount, expiresAt, key, now, note } = lot;
  const { rows } = await sql`
    with lot as (
      insert into credit_lots (workspace_id, id, client_id, source, grant_key, amount, remaining, priority, granted_at, expires_at)
      values (${workspaceId}, ${newId()}, ${clientId}, ${source}, ${key}, ${amount}, ${amount}, ${PRIORITIES[source]}, ${now}, ${expiresAt})
      on conflict (workspace_id, client_id, grant_key, source) do nothing
      returning id, source, amount as by
    ), entry as (
      insert into credit_entries (workspace_id, id, client_id, lot_id, key, kind, amount, note, created_at)
      select ${workspaceId}, ${newId()}, ${clientId}, lot.id, ${key}, 'grant', lot.by, ${note ?? null}, ${now} from lot
    ), account as (
      update credit_accounts set ${addingSums(sql`lot`)}
      where workspace_id = ${workspaceId} and client_id = ${clientId} and exists (select from lot)
    )
    select 1 from lot`.execute(trx);
  return rows.length > 0;
}

/** What changes lots of a client. */
export interface LotChange {
  workspaceId: string;
  clientId: string;
  /** What causes it: one cause changes nothing twice. */
  key: string;
  now: Date;
}

/**
 * Closes the lots of the plan and its package that expire: what is left of them is gone. What was used and then paid back to the client
 * is a debt; it takes from what is left, and what remains of it stays.
 */
export async function closeLotsOfPeriod(trx: Transaction<DB>, change: LotChange): Promise<void> {
  const { workspaceId, clientId, key, now } = change;
  await lockAccount(trx, workspaceId, clientId);
  await sql`
    with open as (
      select id, source, remaining, sum(remaining) over () as net, row_number() over (order by remaining, id) as place from credit_lots
      where workspace_id = ${workspaceId} and client_id = ${clientId} and closed_at is null
        and source in ('plan', 'package') and expires_at is not null
        and not exists (select from credit_entries where workspace_id = ${workspaceId} and client_id = ${clientId}
          and key = ${key} and kind = 'expiry')
    ), changed as (
      select id, source, place = 1 and net < 0 as owes, case when place = 1 and net < 0 then net else 0 end - remaining as by from open
    ), lot as (
      update credit_lots set remaining = credit_lots.remaining + changed.by, closed_at = case when changed.owes then null else ${now}::timestamptz end
      from changed where workspace_id = ${workspaceId} and credit_lots.id = changed.id
    ), account as (
      update credit_accounts set ${addingSums(sql`changed`)}
      where workspace_id = ${workspaceId} and client_id = ${clientId} and exists (select from changed)
    )
    insert into credit_entries (workspace_id, id, client_id, lot_id, key, kind, amount, created_at)
    select ${workspaceId}::uuid, ${anyId}, ${clientId}::uuid, id, ${key}::text, case when by < 0 then 'expiry' else 'correction' end, by, ${now}::timestamptz
    from changed where by <> 0
    union all
    select ${workspaceId}, ${anyId}, ${clientId}, null, ${key}, 'expiry', 0, ${now} where not exists (select from changed where by < 0)
    on conflict do nothing`.execute(trx);
}

/** Takes back everything that a cause granted and that did not expire. Used credits become a debt. Returns how many were taken back. */
export async function reverseLots(
  trx: Transaction<DB>,
  { workspaceId, clientId, grantKey, key, now }: LotChange & { grantKey: string },
): Promise<number> {
  await lockAccount(trx, workspaceId, clientId);
  const { rows } = await sql<{ reversed: number }>`
    with changed as (
      select l.id, l.source, -(l.amount + coalesce(lost.amount, 0)) as by from credit_lots l
      left join lateral (
        select sum(e.amount) as amount from credit_entries e
        where e.workspace_id = ${workspaceId} and e.lot_id = l.id and e.kind in ('expiry', 'reversal')
      ) as lost on true
      where l.workspace_id = ${workspaceId} and l.client_id = ${clientId} and l.grant_key = ${grantKey}
        and l.amount + coalesce(lost.amount, 0) > 0
        and not exists (select from credit_entries where workspace_id = ${workspaceId} and client_id = ${clientId}
          and key = ${key} and kind = 'reversal')
    ), lot as (
      update credit_lots set remaining = credit_lots.remaining + changed.by, closed_at = null
      from changed where workspace_id = ${workspaceId} and credit_lots.id = changed.id
    ), entry as (
      insert into credit_entries (workspace_id, id, client_id, lot_id, key, kind, amount, created_at)
      select ${workspaceId}, ${anyId}, ${clientId}, id, ${key}, 'reversal', by, ${now} from changed
    ), account as (
      update credit_accounts set ${addingSums(sql`changed`)}
      where workspace_id = ${workspaceId} and client_id = ${clientId} and exists (select from changed)
    )
    select coalesce(-sum(by), 0)::bigint as reversed from changed`.execute(trx);
  return rows[0]?.reversed ?? 0;
}

/** Grants and bought credits of all workspaces whose time has passed, and when the next expires: those of a plan are closed by its renewal. */
export async function findExpiredLots(
  system: Kysely<DB>,
  now: Date,
  limit: number,
): Promise<Swept<Pick<CreditLots, 'workspace_id' | 'client_id' | 'id'>>> {
  const open = sql`closed_at is null and source in ('grant', 'extra') and remaining >= 0`;
  const due = sql<Pick<CreditLots, 'workspace_id' | 'client_id' | 'id'>>`
    select workspace_id, client_id, id from credit_lots where ${open} and expires_at <= ${now} order by expires_at limit ${limit}`;
  const next = sql`select min(expires_at) from credit_lots where ${open} and expires_at > ${now}`;
  const { rows } = await sweeping(due, next).execute(system);
  return sweptOf(rows);
}

/** Closes a lot whose time has passed. One that is closed, or is a debt, stays as it is. */
export async function closeExpiredLot(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, client_id: clientId, id }: Pick<CreditLots, 'workspace_id' | 'client_id' | 'id'>,
  now: Date,
): Promise<void> {
  await lockAccount(trx, workspaceId, clientId);
  await sql`
    with changed as (
      select id, source, -remaining as by from credit_lots
      where workspace_id = ${workspaceId} and id = ${id} and closed_at is null and remaining >= 0 and expires_at <= ${now}
    ), lot as (
      update credit_lots set remaining = 0, closed_at = ${now} from changed where workspace_id = ${workspaceId} and credit_lots.id = changed.id
    ), account as (
      update credit_accounts set ${addingSums(sql`changed`)}
      where workspace_id = ${workspaceId} and client_id = ${clientId} and exists (select from changed)
    )
    insert into credit_entries (workspace_id, id, client_id, lot_id, key, kind, amount, created_at)
    select ${workspaceId}, ${newId()}, ${clientId}, id, ${`expiry:${id}`}, 'expiry', by, ${now} from changed where by <> 0`.execute(
    trx,
  );
}
