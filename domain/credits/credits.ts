import type { Kysely, Transaction } from 'kysely';
import {
  type AccountTerms,
  type Balance,
  findBalances,
  insertAccount,
  updateAccountTerms,
  updateUsagePeriod,
} from '../../db/queries/credits/accounts.ts';
import {
  closeLotsOfPeriod,
  insertLot,
  type LotChange,
  type NewLot,
  reverseLots,
} from '../../db/queries/credits/lots.ts';
import type { DB } from '../../generated/db.ts';

/*
 * The credits of clients. Every function takes the transaction of its caller, so that credits change with what changes them; those with
 * a key do nothing when they are called again with it.
 */

/** Opens the account of a new client, without credits. One that is open stays as it is. */
export function openAccount(
  trx: Transaction<DB>,
  workspaceId: string,
  clientId: string,
  terms: AccountTerms,
): Promise<void> {
  return insertAccount(trx, workspaceId, clientId, terms);
}

/** Sets what the client's plan says about its credits. Turns that run keep what they have reserved. */
export function setAccountTerms(
  trx: Transaction<DB>,
  workspaceId: string,
  clientId: string,
  terms: AccountTerms,
): Promise<void> {
  return updateAccountTerms(trx, workspaceId, clientId, terms);
}

/**
 * Gives a client credits: a lot and its entry. An amount of 0 gives nothing. False when the key has given credits of this source before:
 * the lots of a plan and of its package may have one key.
 */
export async function grantCredits(trx: Transaction<DB>, lot: NewLot): Promise<boolean> {
  return lot.amount !== 0 && insertLot(trx, lot);
}

/**
 * Ends the included credits of a period: lots of the plan and its package that have an expiry are closed, whether or not it has passed.
 * Grants and lots without an expiry stay. Used credits whose payment was given back are a debt: it takes from what is left, and the rest
 * of it stays. So what these lots add up to afterwards is 0, or the debt.
 */
export function closeIncludedLots(trx: Transaction<DB>, change: LotChange): Promise<void> {
  return closeLotsOfPeriod(trx, change);
}

/**
 * Takes back all that `grantKey` granted, since its payment was given back or is disputed: what is left of it, and also what was used,
 * which makes the balance negative. What expired is gone already. A second reversal of the same grant takes nothing. Returns how many
 * credits were taken back.
 */
export function reverseGrant(trx: Transaction<DB>, change: LotChange & { grantKey: string }): Promise<number> {
  return reverseLots(trx, change);
}

/** Begins to count the credits used in a period from 0. Call it once for each period: it has no key. */
export function startUsagePeriod(trx: Transaction<DB>, workspaceId: string, clientId: string): Promise<void> {
  return updateUsagePeriod(trx, workspaceId, clientId);
}

/** The balances of clients by their ids, in one statement. A client without an account is absent. */
export function balancesOf(
  db: Kysely<DB>,
  workspaceId: string,
  clientIds: readonly string[],
): Promise<Map<string, Balance>> {
  return findBalances(db, workspaceId, clientIds);
}
