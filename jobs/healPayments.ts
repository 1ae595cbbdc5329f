import { findWorkspacesToHeal } from '../db/queries/payments/intents.ts';
import { healPaymentsOf } from '../domain/payments/reconcile.ts';
import type { Job } from './jobs.ts';

/** Workspaces that one sweep queues. */
const MAX_SWEPT = 200;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The reconciler: heals what a dead process left between the provider and our rows, ends checkouts whose time has passed, and compares the
 * subscriptions of a hub once a day. Each workspace has a job of its own, so that a slow account delays no other.
 */
export const healPayments: Job<'heal-payments'> = {
  name: 'heal-payments',
  options: {
    // What was not healed is due again by its stored state, and not by the queue.
    retryLimit: 0,
    retryDelay: 1,
    retryBackoff: false,
    expireInSeconds: 600,
    pool: 'channels',
    sweepMs: 60_000,
  },
  key: ({ workspaceId }) => workspaceId,
  async run({ workspaceId }, { database, runtime, clock, logger, signal }) {
    const context = { db: database.forWorkspace(workspaceId), workspaceId, runtime, clock };
    const differences = await healPaymentsOf(context, signal);
    for (const difference of differences)
      logger.warn({ workspaceId, ...difference }, 'a subscription is not the same at the payment provider');
  },
  async sweep({ database, clock }) {
    const now = clock.now();
    const comparedBefore = new Date(now.getTime() - DAY_MS);
    return { due: await findWorkspacesToHeal(database.system, { now, comparedBefore, limit: MAX_SWEPT }) };
  },
};
