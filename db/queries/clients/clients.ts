import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { ClientChanges, Clients, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';

/** A customer of the hub, with its subscription. */
export type ClientRow = Selectable<Clients>;

/** Where a subscription is in its life. */
export type ClientStatus = ClientRow['status'];

/** What names a client. */
export type ClientKey = Pick<ClientRow, 'workspace_id' | 'id'>;

/** What may be changed of a client. */
export type ClientChange = Omit<Updateable<Clients>, 'workspace_id' | 'id' | 'created_at'>;

/** The client, if it exists in the workspace and is not deleted. */
export function findClient(db: Kysely<DB>, workspaceId: string, id: string): Promise<ClientRow | undefined> {
  return db
    .selectFrom('clients')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .executeTakeFirst();
}

/** As `findClient`, locked until the transaction ends: changes of a client take turns. What refers to it does not wait. */
export function lockClient(trx: Transaction<DB>, workspaceId: string, id: string): Promise<ClientRow | undefined> {
  return trx
    .selectFrom('clients')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Stores a new client. Fails on `clients_name_key` when the name is taken, whatever its case. */
export function insertClient(db: Kysely<DB>, client: Insertable<Clients>): Promise<ClientRow> {
  return db.insertInto('clients').values(client).returningAll().executeTakeFirstOrThrow();
}

/** Changes columns of a client that exists, and returns it. */
export function updateClientRow(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id }: ClientKey,
  change: ClientChange,
): Promise<ClientRow> {
  return trx
    .updateTable('clients')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Whether a change of the client's subscription with this key was stored. The client must be locked. */
export async function hasClientChange(
  trx: Transaction<DB>,
  { workspace_id: workspaceId, id }: ClientKey,
  key: string,
): Promise<boolean> {
  const row = await trx
    .selectFrom('client_changes')
    .select('key')
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', id)
    .where('key', '=', key)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores that a change of a client's subscription was made. */
export async function insertClientChange(trx: Transaction<DB>, change: Insertable<ClientChanges>): Promise<void> {
  await trx.insertInto('client_changes').values(change).execute();
}

/** The latest changes of a client's subscription, newest first. */
export function selectClientChanges(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: ClientKey,
  limit: number,
): Promise<Selectable<ClientChanges>[]> {
  return db
    .selectFrom('client_changes')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', id)
    .orderBy('created_at', 'desc')
    .orderBy('key', 'desc')
    .limit(limit)
    .execute();
}

/** What the life of a subscription takes from its plan. */
export interface SubscriptionTerms {
  id: string;
  billingType: 'one_time' | 'recurring';
  /** Months of a period; without effect on a one-time plan. */
  intervalMonths: number;
  seats: number;
  isUnlimited: boolean;
  mayUseExtra: boolean;
  /** Credits of its package; 0 without one. */
  credits: number;
  /** Credits that its package adds to these. */
  bonusCredits: number;
  /** Months after which its credits are granted again; null = they are granted once. */
  renewalMonths: number | null;
}

/**
 * The terms of a plan, which neither changes nor goes away until the transaction ends. Undefined when there is none, or when it is deleted
 * and `withDeleted` is not set.
 */
export async function holdTerms(
  trx: Transaction<DB>,
  workspaceId: string,
  planId: string,
  { withDeleted = false }: { withDeleted?: boolean } = {},
): Promise<SubscriptionTerms | undefined> {
  const { rows } = await sql<SubscriptionTerms>`
    select p.id, p.billing_type as "billingType", p.billing_interval_months as "intervalMonths", p.seats_included as seats,
      p.unlimited_credits as "isUnlimited", p.extra_credits_enabled as "mayUseExtra", coalesce(c.credits_amount, 0) as credits,
      coalesce(c.extra_credits_amount, 0) as "bonusCredits", c.renewal_interval_months as "renewalMonths"
    from plans p left join credit_packages c on c.workspace_id = ${workspaceId} and c.id = p.credit_package_id
    where p.workspace_id = ${workspaceId} and p.id = ${planId} and (${withDeleted} or ${notDeletedByKey('p.deleted_at')})
    for share of p`.execute(trx);
  return rows[0];
}
