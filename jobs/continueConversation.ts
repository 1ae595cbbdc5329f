import { decidedConversations } from '../db/queries/turns/approvals.ts';
import { markInterrupted } from '../db/queries/turns/turns.ts';
import { continueConversation as goOn } from '../runtime/turn/continuation.ts';
import type { Job } from './jobs.ts';

/** Conversations that one sweep takes up. */
const SWEPT = 200;

/** Goes on with conversations whose waiting calls were decided by an operator, or by a message whose process died. */
export const continueConversation: Job<'continue-conversation'> = {
  name: 'continue-conversation',
  // A turn has five minutes; the lease of one that died runs out within seconds.
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
    await goOn({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, conversationId);
  },
  async sweep({ database, clock }) {
    await markInterrupted(database.system, clock.now());
    return decidedConversations(database.system, clock.now(), SWEPT);
  },
};
