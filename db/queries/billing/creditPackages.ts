import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { CreditPackages, DB } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { countRows, newestFirst, type Page, type PageOf } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';

/** Credits that plans can include. */
export type CreditPackageRow = Selectable<CreditPackages>;

/** The credit package, if it exists and is not deleted. */
export function findCreditPackage(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<CreditPackageRow | undefined> {
  return byId(db, workspaceId, id).executeTakeFirst();
}

function byId(db: Kysely<DB>, workspaceId: string, id: string) {
  return db
    .selectFrom('credit_packages')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey());
}

/**
 * The credit package, locked until the transaction ends. `share`: it is not deleted meanwhile, for a plan that is going to include it.
 * `update`: no plan begins to include it, for its deletion.
 */
export function lockCreditPackage(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  strength: 'share' | 'update',
): Promise<CreditPackageRow | undefined> {
  const query = byId(trx, workspaceId, id);
  return (strength === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst();
}

/** A page of the credit packages, newest first, each with the number of plans that include it. */
export async function selectCreditPackages(
  db: Kysely<DB>,
  workspaceId: string,
  page: Page,
): Promise<PageOf<CreditPackageRow & { plans_using: number }>> {
  const matching = db
    .selectFrom('credit_packages')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null);
  const rows = await matching
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('plans as p')
        .select(sql<number>`count(*)`.as('plans'))
        .where('p.workspace_id', '=', workspaceId)
        .whereRef('p.credit_package_id', '=', 'credit_packages.id')
        .where('p.deleted_at', 'is', null)
        .$asScalar()
        .$notNull()
        .as('plans_using'),
    )
    .$call(newestFirst)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: await countRows(matching) };
}

/** Stores a credit package. Fails on `credit_packages_name_key` when the name is taken, whatever its case. */
export function insertCreditPackage(db: Kysely<DB>, row: Insertable<CreditPackages>): Promise<CreditPackageRow> {
  return db.insertInto('credit_packages').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Changes a credit package and returns it; undefined when it does not exist. Fails on `credit_packages_name_key`. */
export function updateCreditPackageRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<CreditPackages>,
): Promise<CreditPackageRow | undefined> {
  return db
    .updateTable('credit_packages')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where(notDeletedByKey())
    .returningAll()
    .executeTakeFirst();
}

/** Marks the credit package as deleted. Returns whether there was one. */
export function softDeleteCreditPackage(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  return softDelete(trx, 'credit_packages', { workspaceId, id }, now);
}

/** Whether a plan that is not deleted includes the credit package. */
export async function isCreditPackageUsed(db: Kysely<DB>, workspaceId: string, id: string): Promise<boolean> {
  const plan = await db
    .selectFrom('plans')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('credit_package_id', '=', id)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return plan !== undefined;
}
