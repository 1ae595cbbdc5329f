import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { Checkouts, DB } from '../../../generated/db.ts';

/** A purchase under way, or one that ended. */
export type CheckoutRow = Selectable<Checkouts>;

/** What names a checkout. */
export type CheckoutKey = Pick<CheckoutRow, 'workspace_id' | 'id'>;

/** Stores a checkout. Fails on `checkouts_open_client` and `checkouts_open_buyer` when the buyer has an open one. */
export function insertCheckout(db: Kysely<DB>, checkout: Insertable<Checkouts>): Promise<CheckoutRow> {
  return db.insertInto('checkouts').values(checkout).returningAll().executeTakeFirstOrThrow();
}

/** The checkout with this id. */
export function findCheckoutRow(db: Kysely<DB>, workspaceId: string, id: string): Promise<CheckoutRow | undefined> {
  return db
    .selectFrom('checkouts')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** As `findCheckoutRow`, locked until the transaction ends. */
export function lockCheckout(trx: Transaction<DB>, workspaceId: string, id: string): Promise<CheckoutRow | undefined> {
  return trx
    .selectFrom('checkouts')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** How many purchases strangers have begun in the hub since a time, and how many of them with this email. */
export async function countOfStrangers(
  db: Kysely<DB>,
  workspaceId: string,
  { email, since }: { email: string; since: Date },
): Promise<{ all: number; ofEmail: number }> {
  const row = await db
    .selectFrom('checkouts')
    .select([
      sql<string>`count(*)`.as('all'),
      sql<string>`count(*) filter (where lower(email) = lower(${email}))`.as('of_email'),
    ])
    .where('workspace_id', '=', workspaceId)
    .where('is_of_stranger', '=', true)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return { all: Number(row.all), ofEmail: Number(row.of_email) };
}

/** The open checkout of a plan that a client, or a buyer who is none yet, has begun. */
export function findOpenCheckout(
  db: Kysely<DB>,
  workspaceId: string,
  buyer: { clientId: string } | { email: string; workspaceName: string },
): Promise<CheckoutRow | undefined> {
  let query = db
    .selectFrom('checkouts')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'open')
    .where('kind', '=', 'plan');
  query =
    'clientId' in buyer
      ? query.where('client_id', '=', buyer.clientId)
      : query
          .where('client_id', 'is', null)
          .where(sql<boolean>`lower(email) = lower(${buyer.email})`)
          .where(sql<boolean>`lower(workspace_name) = lower(${buyer.workspaceName})`);
  return query.executeTakeFirst();
}

/** Changes a checkout. */
export async function updateCheckoutRow(
  db: Kysely<DB>,
  { workspace_id: workspaceId, id }: CheckoutKey,
  change: Omit<Updateable<Checkouts>, 'workspace_id' | 'id'>,
): Promise<void> {
  await db.updateTable('checkouts').set(change).where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
}

/** Open checkouts of a workspace whose time has passed, oldest first. */
export function selectPassedCheckouts(
  db: Kysely<DB>,
  workspaceId: string,
  now: Date,
  limit: number,
): Promise<CheckoutRow[]> {
  return db
    .selectFrom('checkouts')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'open')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}
