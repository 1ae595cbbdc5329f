import { findDueDeliveries, findOldestDeliveryTime } from '../db/queries/channels/deliveries.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { deliver } from '../domain/channels/deliver.ts';
import type { Job } from './jobs.ts';

/** Conversations that one sweep queues. */
const MAX_SWEPT = 500;

/** Sends replies over a channel. The end of a turn queues it; the sweep finds what was never queued. */
export const deliverMessage: Job<'deliver-message'> = {
  name: 'deliver-message',
  options: {
    // A message that was not sent is tried again by its stored state, and not by the queue.
    retryLimit: 1,
    retryDelay: 5,
    retryBackoff: false,
    expireInSeconds: 900,
    pool: 'channels',
    sweepMs: 30_000,
    again: true,
  },
  key: ({ conversationId }) => conversationId,
  async run(data, { database, runtime, clock, jobs, signal }) {
    const { workspaceId, conversationId } = data;
    const context = { db: database.forWorkspace(workspaceId), workspaceId, runtime, clock };
    const afterMs = await deliver(context, conversationId, signal);
    if (afterMs !== undefined) await jobs.send('deliver-message', data, { afterMs });
  },
  sweep: ({ database, clock }) => findDueDeliveries(database.system, clock.now(), MAX_SWEPT),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestDeliveryTime(system, clock.now())),
};
