import { findExecutionsToRun, findOldestExecutionTime } from '../db/queries/automations/executionStates.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { runExecution } from '../domain/automations/execute.ts';
import type { Job } from './jobs.ts';
import { turnJob } from './turnJob.ts';

/** Executions that one sweep queues. */
const MAX_SWEPT = 256;
/** While an execution has been waiting for so long, there is a backlog. */
const BACKLOG_MS = 2_000;

/**
 * Runs a dispatched execution of an automation. The stored state says what is left to do: the queue never tries a job again, since an
 * execution that is to be tried again has a time of its own.
 */
export const runAutomation: Job<'run-automation'> = {
  name: 'run-automation',
  options: {
    ...turnJob,
    sweepMs: 30_000,
  },
  key: ({ executionId }) => executionId,
  async run({ workspaceId, executionId }, { database, runtime }) {
    await runExecution({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, executionId);
  },
  sweep({ database, clock }) {
    const now = clock.now();
    const waitingSince = new Date(now.getTime() - BACKLOG_MS);
    return findExecutionsToRun(database.system, { now, waitingSince, limit: MAX_SWEPT });
  },
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestExecutionTime(system, clock.now())),
};
