import { findDueMails, findOldestMailTime } from '../db/queries/mails/mails.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { sendQueuedMail } from '../domain/mail/sendQueuedMail.ts';
import type { Job } from './jobs.ts';

/** Mails that one sweep queues. */
const MAX_SWEPT = 500;

/** Sends a mail. The commit that stores one announces it; the sweep finds what was never queued. */
export const sendMail: Job<'send-mail'> = {
  name: 'send-mail',
  options: {
    // A mail that was not sent is tried again by its stored state, and not by the queue.
    retryLimit: 1,
    retryDelay: 5,
    retryBackoff: false,
    expireInSeconds: 300,
    pool: 'mail',
    sweepMs: 30_000,
    again: true,
  },
  key: ({ mailId }) => mailId,
  async run(data, { database, runtime, clock, jobs, signal }) {
    const { workspaceId, mailId } = data;
    const context = { db: database.forWorkspace(workspaceId), workspaceId, runtime, clock };
    const afterMs = await sendQueuedMail(context, mailId, signal);
    if (afterMs !== undefined) await jobs.send('send-mail', data, { afterMs });
  },
  sweep: ({ database, clock }) => findDueMails(database.system, clock.now(), MAX_SWEPT),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestMailTime(system, clock.now())),
};
