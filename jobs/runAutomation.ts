import {
  findExecutionsToRun,
  findNextExecutionTime,
  findOldestExecutionTime,
} from '../db/queries/automations/executionStates.ts';
import { markInterrupted } from '../db/queries/turns/turns.ts';
import { withStatementTimeout } from '../db/transaction.ts';
import { runExecution } from '../domain/automations/execute.ts';
import type { Job } from './jobs.ts';

/** Executions that one sweep queues. */
const MAX_SWEPT = 256;
const SWEEP_MS = 30_000;
/** While an execution has been waiting for so long, there is a backlog. */
const BACKLOG_MS = 2_000;

/**
 * Runs a dispatched execution of an automation. The stored state says what is left to do: the queue never tries a job again, since an
 * execution that is to be tried again has a time of its own.
 */
export const runAutomation: Job<'run-automation'> = {
  name: 'run-automation',
  options: {
    retryLimit: 0,
    retryDelay: 1,
    retryBackoff: false,
    // Longer than a turn may take.
    expireInSeconds: 330,
    pool: 'turns',
    sweepMs: SWEEP_MS,
  },
  key: ({ executionId }) => executionId,
  async run({ workspaceId, executionId }, { database, runtime }) {
    await runExecution({ db: database.forWorkspace(workspaceId), workspaceId, runtime }, executionId);
  },
  async sweep({ database, clock }) {
    await markInterrupted(database.system, clock.now(), MAX_SWEPT);
    return findExecutionsToRun(database.system, clock.now(), MAX_SWEPT);
  },
  nextDue: ({ database }, horizon) =>
    findNextExecutionTime(database.system, horizon, new Date(horizon.getTime() - SWEEP_MS - BACKLOG_MS)),
  oldestDue: ({ database, clock }, timeoutMs) =>
    withStatementTimeout(database.system, timeoutMs, (system) => findOldestExecutionTime(system, clock.now())),
};
