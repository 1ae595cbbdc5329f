import { findOldestEventTime, findWorkspacesWithDueEvents } from '../db/queries/payments/events.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { applyEvents } from '../domain/payments/applyEvents.ts';
import type { Job } from './jobs.ts';

/** Workspaces that one sweep queues. */
const MAX_SWEPT = 500;

/**
 * Applies what the payment provider has told. One job of a workspace runs at a time, so that an older answer of the provider never comes after a newer
 * one. The webhook queues it; the sweep finds what came while one ran, and what is to be tried again.
 */
export const applyPayments: Job<'apply-payments'> = {
  name: 'apply-payments',
  options: {
    // An event that was not applied is tried again by its stored state, and not by the queue.
    retryLimit: 1,
    retryDelay: 5,
    retryBackoff: false,
    expireInSeconds: 900,
    pool: 'channels',
    sweepMs: 15_000,
  },
  key: ({ workspaceId }) => workspaceId,
  async run({ workspaceId }, { database, runtime, clock, signal }) {
    await applyEvents({ db: database.forWorkspace(workspaceId), workspaceId, runtime, clock }, signal);
  },
  sweep: ({ database, clock }) => findWorkspacesWithDueEvents(database.system, clock.now(), MAX_SWEPT),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestEventTime(system, clock.now())),
};
