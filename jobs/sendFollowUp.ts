import {
  FOLLOW_UP_RETRY_MINUTES,
  findDueFollowUp,
  findDueFollowUps,
  findOldestFollowUpTime,
  postponeFollowUp,
} from '../db/queries/conversations/followUps.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { runFollowUp } from '../runtime/turn/followUp.ts';
import type { Job } from './jobs.ts';
import { turnJob } from './turnJob.ts';

/** Follow-ups that one sweep queues. */
const MAX_SWEPT = 500;
/** Follow-ups are stored at least a minute ahead, so each is seen before it is due. */
const SWEEP_MS = 30_000;
/** After so many failed attempts the agent does not write again until the user does. */
const MAX_FAILURES = 3;

/**
 * Lets an agent write again to an end user who has been silent. It is never queued by hand: the sweep finds what is due. A failed run
 * is not retried by the queue; its follow-up is due again later.
 */
export const sendFollowUp: Job<'send-follow-up'> = {
  name: 'send-follow-up',
  options: {
    ...turnJob,
    sweepMs: SWEEP_MS,
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
  sweep({ database, clock }) {
    const now = clock.now();
    const horizon = new Date(now.getTime() + SWEEP_MS);
    return findDueFollowUps(database.system, { now, horizon, limit: MAX_SWEPT });
  },
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestFollowUpTime(system, clock.now())),
};
