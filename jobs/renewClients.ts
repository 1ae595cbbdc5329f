import { findDueClients } from '../db/queries/clients/clientsAnywhere.ts';
import { inTransaction } from '../db/transaction.ts';
import { advanceClient } from '../domain/clients/renewals.ts';
import type { Upkeep } from './upkeep.ts';

/** Clients that are found at once. */
const CLIENTS_AT_ONCE = 200;

/**
 * Renews periods and credits that no payment provider renews, begins pending plans, and ends trials, at their time. Each client has a transaction of
 * its own: a process that dies leaves it done or due, and of several processes one does it. A client that fails delays no other; it is tried
 * again in the next run.
 */
export const renewClients: Upkeep = {
  name: 'renew-clients',
  intervalMs: 60_000,
  async run({ database, clock, logger }) {
    const failed: string[] = [];
    for (;;) {
      const { due, next } = await findDueClients(database.system, clock.now(), {
        limit: CLIENTS_AT_ONCE,
        except: failed,
      });
      for (const client of due) {
        try {
          const db = database.forWorkspace(client.workspace_id);
          await inTransaction(db, (trx) => advanceClient(trx, client, clock.now()));
        } catch (error) {
          failed.push(client.id);
          logger.error(
            { workspaceId: client.workspace_id, clientId: client.id, err: error },
            'a client was not renewed',
          );
        }
      }
      if (due.length === 0) return next;
    }
  },
};
