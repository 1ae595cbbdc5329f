import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** What a client's plan says about its credits. */
export interface AccountTerms {
  /** Its messages cost nothing. They are counted. */
  isUnlimited: boolean;
  /** Credits that it bought are used when the included ones are gone. */
  mayUseExtra: boolean;
}

/** The credits of a client. What running turns have reserved is still in it. */
export interface Balance {
  /** Left of what its plan includes and of grants. Negative: it used credits whose payment was given back. */
  included: number;
  /** Left of what it bought; negative as above. */
  extra: number;
  /** Charged since its period began, also while it has no limit. */
  usedThisPeriod: number;
  isUnlimited: boolean;
}

/** Stores an account without credits. One that is there stays as it is. */
export async function insertAccount(
  trx: Transaction<DB>,
  workspaceId: string,
  clientId: string,
  { isUnlimited, mayUseExtra }: AccountTerms,
): Promise<void> {
  await trx
    .insertInto('credit_accounts')
    .values({
      workspace_id: workspaceId,
      client_id: clientId,
      is_unlimited: isUnlimited,
      may_use_extra: mayUseExtra,
    })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'client_id']).doNothing())
    .execute();
}

/** Changes the terms of an account. */
export async function updateAccountTerms(
  trx: Transaction<DB>,
  workspaceId: string,
  clientId: string,
  { isUnlimited, mayUseExtra }: AccountTerms,
): Promise<void> {
  await trx
    .updateTable('credit_accounts')
    .set({ is_unlimited: isUnlimited, may_use_extra: mayUseExtra })
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', clientId)
    .execute();
}

/** Counts from 0 again, as a new period. */
export async function updateUsagePeriod(trx: Transaction<DB>, workspaceId: string, clientId: string): Promise<void> {
  await trx
    .updateTable('credit_accounts')
    .set((row) => ({ used_this_period: 0, usage_period: row('usage_period', '+', 1) }))
    .where('workspace_id', '=', workspaceId)
    .where('client_id', '=', clientId)
    .execute();
}

/** Keeps other changes of the client's credits out until the transaction ends. */
export async function lockAccount(trx: Transaction<DB>, workspaceId: string, clientId: string): Promise<void> {
  await sql`select 1 from credit_accounts where workspace_id = ${workspaceId} and client_id = ${clientId} for no key update`.execute(
    trx,
  );
}

/** The balances of clients by their ids. A client without an account is absent. */
export async function findBalances(
  db: Kysely<DB>,
  workspaceId: string,
  clientIds: readonly string[],
): Promise<Map<string, Balance>> {
  if (clientIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('credit_accounts')
    .select(['client_id', 'included', 'extra', 'used_this_period', 'is_unlimited'])
    .where('workspace_id', '=', workspaceId)
    .where('client_id', 'in', [...clientIds])
    .execute();
  return new Map(
    rows.map(({ client_id, included, extra, used_this_period, is_unlimited }) => [
      client_id,
      { included, extra, usedThisPeriod: used_this_period, isUnlimited: is_unlimited },
    ]),
  );
}
