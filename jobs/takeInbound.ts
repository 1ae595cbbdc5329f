import { findDuePeople, findOldestInboundTime } from '../db/queries/channels/dueInbound.ts';
import { selectReceived } from '../db/queries/channels/takeInbound.ts';
import { updateSettled } from '../db/queries/channels/unanswered.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { takeMessages } from '../domain/channels/takeMessages.ts';
import type { Job } from './jobs.ts';

/** People that one sweep queues. */
const MAX_SWEPT = 500;
/** Messages that are given up at once. */
const MAX_GIVEN_UP = 100;

/**
 * Takes what a person sent over a channel into the person's conversation. Whoever receives a message queues it; the sweep finds what was
 * never queued. Messages that cannot be taken after some attempts are failed, and can be replayed.
 */
export const takeInbound: Job<'take-inbound'> = {
  name: 'take-inbound',
  options: {
    retryLimit: 3,
    retryDelay: 2,
    retryBackoff: true,
    // Files are fetched.
    expireInSeconds: 330,
    pool: 'channels',
    sweepMs: 30_000,
    again: true,
  },
  key: ({ connectionId, person }) => `${connectionId} ${person}`,
  async run(data, { database, runtime, clock, jobs, signal }) {
    const { workspaceId } = data;
    const context = { db: database.forWorkspace(workspaceId), workspaceId, runtime, clock };
    const { answer, isMore } = await takeMessages(context, data, signal);
    if (answer) {
      const { conversationId, afterMs } = answer;
      await jobs.send('answer-inbound', { workspaceId, conversationId }, { afterMs });
    }
    if (isMore) await jobs.send('take-inbound', data);
  },
  async failed(data, { database, clock }) {
    const db = database.forWorkspace(data.workspaceId);
    const now = clock.now();
    const rows = await selectReceived(db, data, { now, limit: MAX_GIVEN_UP });
    const settlement = { status: 'failed', code: 'NOT_TAKEN', message: null, now } as const;
    if (rows.length > 0)
      await updateSettled(
        db,
        data.workspaceId,
        rows.map(({ id }) => id),
        settlement,
      );
  },
  sweep: ({ database, clock }) => findDuePeople(database.system, clock.now(), MAX_SWEPT),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) =>
      findOldestInboundTime(system, 'received', clock.now()),
    ),
};
