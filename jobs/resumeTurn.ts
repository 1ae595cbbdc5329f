import { findDeadTurns, findOldestDeadTurn } from '../db/queries/turns/deadTurns.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { resumeTurn } from '../runtime/turn/runTurn.ts';
import type { Job } from './jobs.ts';
import { turnJob } from './turnJob.ts';

/** Turns that one sweep queues. */
const MAX_SWEPT = 500;

/**
 * Goes on with turns whose process died. It is never queued by hand: the sweep finds the leases that nobody renews. Its queue tries nothing
 * again, since a turn whose process dies once more is found in the same way.
 */
export const resumeDeadTurn: Job<'resume-turn'> = {
  name: 'resume-turn',
  options: {
    ...turnJob,
    pool: 'resuming',
    // A lease lasts longer, so each is seen before it ends.
    sweepMs: 18_000,
    // A process that dies while it goes on with a turn leaves a job that counts as running for up to twenty seconds.
    again: true,
  },
  key: ({ conversationId }) => conversationId,
  async run(data, { database, runtime, jobs }) {
    const { workspaceId, conversationId } = data;
    await resumeTurn({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, conversationId);
    // What a person wrote meanwhile is due, and so is what the turn came to no answer to.
    await jobs.send('answer-inbound', data);
  },
  sweep: ({ database }) => findDeadTurns(database.system, MAX_SWEPT),
  oldestDue: ({ database }, timeoutMs) => withStatementTimeout(database.system, timeoutMs, findOldestDeadTurn),
};
