import { findDueAnswers, findOldestInboundTime } from '../db/queries/channels/dueInbound.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { answerPerson } from '../domain/channels/answerPerson.ts';
import type { Job } from './jobs.ts';

/** Conversations that one sweep queues. */
const MAX_SWEPT = 500;

/** Answers what a person said in a conversation over a channel. `take-inbound` queues it; the sweep finds what was never queued. */
export const answerInbound: Job<'answer-inbound'> = {
  name: 'answer-inbound',
  options: {
    // A turn that fails is tried again by its stored state, and not by the queue.
    retryLimit: 1,
    retryDelay: 5,
    retryBackoff: false,
    // Longer than a turn may take, after some that were given up for messages that joined.
    expireInSeconds: 420,
    pool: 'turns',
    sweepMs: 30_000,
    again: true,
  },
  key: ({ conversationId }) => conversationId,
  async run(data, { database, runtime, clock, jobs }) {
    const { workspaceId, conversationId } = data;
    const context = { db: database.forWorkspace(workspaceId), workspaceId, runtime, clock };
    const afterMs = await answerPerson(context, conversationId);
    if (afterMs !== undefined) await jobs.send('answer-inbound', data, { afterMs });
  },
  sweep: ({ database, clock }) => findDueAnswers(database.system, clock.now(), MAX_SWEPT),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestInboundTime(system, 'taken', clock.now())),
};
