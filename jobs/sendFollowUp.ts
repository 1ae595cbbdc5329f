import {
  findDueFollowUp,
  findDueFollowUps,
  findNextFollowUpTime,
  findOldestFollowUpTime,
} from '../db/queries/conversations/followUps.ts';
import { FOLLOW_UP_RETRY_MINUTES, postponeFollowUp } from '../db/queries/turns/turns.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { runFollowUp } from '../runtime/turn/followUp.ts';
import type { Job } from './jobs.ts';

/** Follow-ups that one sweep queues. */
const MAX_SWEPT = 500;
/** After so many failed attempts the agent does not write again until the user does. */
const MAX_FAILURES = 3;

/**
 * Lets an agent write again to an end user who has been silent. It is never queued by hand: the sweep finds what is due. A failed run
 * is not retried by the queue; its follow-up is due again later.
 */
export const sendFollowUp: Job<'send-follow-up'> = {
  name: 'send-follow-up',
  options: {
    retryLimit: 0,
    retryDelay: 1,
    retryBackoff: false,
    // Longer than a turn may take.
    expireInSeconds: 330,
    pool: 'turns',
    // Follow-ups are stored at least a minute ahead, so each is seen before it is due.
    sweepMs: 30_000,
  },
  key: ({ conversationId }) => conversationId,
  async run({ workspaceId, conversationId }, { database, runtime, clock }) {
    const db = database.forWorkspace(workspaceId);
    const now = clock.now();
    const found = await findDueFollowUp(db, workspaceId, conversationId, now);
    if (!found) return;
    const { due, failed } = found;
    if (failed >= MAX_FAILURES) {
      await postponeFollowUp(db, workspaceId, conversationId, { due, until: null });
      return;
    }
    try {
      await runFollowUp({ db, workspaceId, runtime }, conversationId);
    } catch (error) {
      // A turn that has taken the conversation has moved the follow-up itself; then this changes nothing.
      const until = new Date(now.getTime() + FOLLOW_UP_RETRY_MINUTES * 60_000);
      await postponeFollowUp(db, workspaceId, conversationId, { due, until });
      throw error;
    }
  },
  sweep: ({ database, clock }) => findDueFollowUps(database.system, clock.now(), MAX_SWEPT),
  nextDue: ({ database }, horizon) => findNextFollowUpTime(database.system, horizon),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestFollowUpTime(system, clock.now())),
};
