import { dueFollowUps, findDueFollowUp } from '../db/queries/conversations/followUps.ts';
import { FOLLOW_UP_RETRY_MINUTES, postponeFollowUp } from '../db/queries/turns/turns.ts';
import { runFollowUp } from '../runtime/turn/followUp.ts';
import type { Job } from './jobs.ts';

/** More than wait at any time; the next sweep finds the rest. */
const SWEPT_AT_ONCE = 500;
/** Attempts that come to nothing before a silence is left alone. */
const MOST_FAILURES = 3;

/**
 * Lets an agent write again to an end user who has gone quiet. Never queued by hand: the sweep finds what is due. A run that fails is
 * not tried again at once, but when the follow-up is due again.
 */
export const sendFollowUp: Job<'send-follow-up'> = {
  name: 'send-follow-up',
  // Longer than a turn may take.
  options: { retryLimit: 0, retryDelay: 1, retryBackoff: false, expireInSeconds: 330, pool: 'turns', sweepMs: 1_000 },
  key: ({ conversationId }) => conversationId,
  async run({ workspaceId, conversationId }, { database, runtime, clock }) {
    const db = database.forWorkspace(workspaceId);
    const now = clock.now();
    const found = await findDueFollowUp(db, workspaceId, conversationId, now);
    if (!found) return;
    const { due, failed } = found;
    if (failed >= MOST_FAILURES) {
      await postponeFollowUp(db, workspaceId, conversationId, { due, until: null });
      return;
    }
    try {
      await runFollowUp({ db, workspaceId, runtime }, conversationId);
    } catch (error) {
      // Of effect only where it failed before it took the conversation, which moves the follow-up, too.
      const until = new Date(now.getTime() + FOLLOW_UP_RETRY_MINUTES * 60_000);
      await postponeFollowUp(db, workspaceId, conversationId, { due, until });
      throw error;
    }
  },
  sweep: ({ database, clock }) => dueFollowUps(database.system, clock.now(), SWEPT_AT_ONCE),
};
