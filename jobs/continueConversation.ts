import { findDecidedConversations, findOldestDecisionTime } from '../db/queries/turns/approvals.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { resumeConversation } from '../runtime/turn/resumeConversation.ts';
import type { Job } from './jobs.ts';

/** Conversations that one sweep queues. */
const MAX_SWEPT = 500;

/**
 * Continues conversations whose waiting calls were decided by an operator, or by a message whose process died. A decision queues it at
 * once; the sweep finds decisions whose notification was lost.
 */
export const continueConversation: Job<'continue-conversation'> = {
  name: 'continue-conversation',
  // A turn has five minutes, and the job a little longer. The lease of a turn that died expires within seconds.
  options: {
    retryLimit: 3,
    retryDelay: 10,
    retryBackoff: true,
    expireInSeconds: 330,
    pool: 'turns',
    sweepMs: 30_000,
    again: true,
  },
  key: ({ conversationId }) => conversationId,
  async run({ workspaceId, conversationId }, { database, runtime }) {
    await resumeConversation({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, conversationId);
  },
  sweep: async ({ database, clock }) => ({
    due: await findDecidedConversations(database.system, clock.now(), MAX_SWEPT),
  }),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestDecisionTime(system, clock.now())),
};
