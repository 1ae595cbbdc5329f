import { findLedgerDifferences, findWorkspacesWithAccounts } from '../db/queries/credits/ledgerCheck.ts';
import { closeExpiredLot, findExpiredLots } from '../db/queries/credits/lots.ts';
import { findStaleReservations, releaseReservation } from '../db/queries/credits/staleReservations.ts';
import { inTransaction, withStatementTimeout } from '../db/transaction.ts';
import type { Upkeep } from './upkeep.ts';

/** Rows that one round takes. */
const AT_ONCE = 500;
/** The check looks at each workspace for no longer than this. */
const CHECK_MS = 10 * 60_000;
/** Differences of a workspace that are logged one by one; the others are there to be found when these are mended. */
const MAX_SHOWN = 100;

/** Releases what turns had reserved whose end was never stored. */
export const releaseReservations: Upkeep = {
  name: 'release-reservations',
  intervalMs: 60_000,
  async run({ database: { system }, clock }) {
    for (const stale of await findStaleReservations(system, AT_ONCE))
      await releaseReservation(system, stale, clock.now());
  },
};

/** Closes grants and bought credits whose time has passed. What a plan includes is closed by its renewal. */
export const expireCredits: Upkeep = {
  name: 'expire-credits',
  intervalMs: 60_000,
  async run({ database: { system }, clock }) {
    for (;;) {
      const now = clock.now();
      const { due, next } = await findExpiredLots(system, now, AT_ONCE);
      for (const lot of due) await inTransaction(system, (trx) => closeExpiredLot(trx, lot, now));
      if (due.length < AT_ONCE) return next;
    }
  },
};

/** The result of the latest check of the ledger in this process. */
export interface LedgerWatch {
  /** Sums that are not what their parts add up to, at most 100 of each workspace; undefined before the first check. */
  differences: number | undefined;
}

/**
 * Compares the balances of clients with their lots, and the lots with the entries, when a process begins and every day. What differs is logged
 * and counted, and never mended by itself: somebody must find out why.
 */
export function checkLedger(watch: LedgerWatch): Upkeep {
  return {
    name: 'check-ledger',
    intervalMs: 24 * 60 * 60_000,
    async run({ database: { system }, logger }) {
      let differences = 0;
      for (const workspaceId of await findWorkspacesWithAccounts(system)) {
        const found = await withStatementTimeout(system, CHECK_MS, (trx) =>
          findLedgerDifferences(trx, workspaceId, MAX_SHOWN),
        );
        for (const difference of found) logger.error({ workspaceId, ...difference }, 'the ledger does not add up');
        differences += found.length;
      }
      watch.differences = differences;
    },
  };
}
