import { type ApiError, ERRORS, type ErrorCode, fault, isFinal } from '../../core/errors.ts';
import { backOff } from '../../core/retry.ts';
import { completeExecution } from '../../db/queries/automations/completeExecution.ts';
import {
  APPROVAL_DAYS,
  type ExecutionState,
  findExecutionState,
  updateWaitEnded,
  waitingLimits,
} from '../../db/queries/automations/executionStates.ts';
import { type ExecutionFailure, failExecution, updateExecutionRetry } from '../../db/queries/automations/executions.ts';
import type { WorkspaceRuntime } from '../../runtime/runtime.ts';

/** The first attempt and three more. */
export const MAX_ATTEMPTS = 4;
/** Before the second attempt; twice as long before each further one. */
const FIRST_RETRY_MS = 15_000;

/** What becomes of a running execution. `endsWait`: the calls that wait for a decision are closed. */
type Outcome =
  | { kind: 'completed' }
  | { kind: 'retry'; failure: ExecutionFailure }
  | { kind: 'failed'; failure: ExecutionFailure; endsWait?: boolean };

/**
 * Decides by the stored state what becomes of a running execution: it goes on, is tried again, or ends. `error` is what the caller's own
 * attempt failed with; without one the process that ran it may have died.
 */
export async function settleExecution(
  { db, workspaceId, runtime }: WorkspaceRuntime,
  executionId: string,
  error?: ApiError,
): Promise<void> {
  const state = await findExecutionState(db, workspaceId, executionId);
  if (state?.execution.status !== 'RUNNING') return;
  const { execution } = state;
  const now = runtime.clock.now();
  const outcome = outcomeOf(state, now, error);
  switch (outcome?.kind) {
    case 'completed':
      return completeExecution(db, workspaceId, execution.conversation_id, now);
    case 'retry': {
      const retryAt = new Date(now.getTime() + backOff(FIRST_RETRY_MS, execution.attempts));
      return updateExecutionRetry(db, execution, outcome.failure, retryAt);
    }
    case 'failed':
      if (outcome.endsWait) {
        await updateWaitEnded(db, workspaceId, execution.conversation_id, { ...outcome.failure, now });
      }
      return failExecution(db, execution, outcome.failure, now);
  }
}

function outcomeOf(state: ExecutionState, now: Date, error: ApiError | undefined): Outcome | undefined {
  const { execution, conversation, isTaken, turn, isWaiting, hasCalledTools } = state;
  if (conversation === 'held' || (conversation === 'none' && isTaken && !error)) return undefined;
  if (conversation === 'deleted') return failed('CONVERSATION_NOT_FOUND', 'The conversation was deleted.');
  if (isWaiting) return endOfWait(state, now);
  if (turn?.status === 'done') return { kind: 'completed' };
  const { code, message } = error ?? errorOf(turn);
  if (!isPassing(code)) return failed(code, message);
  if (hasCalledTools) {
    return failed(code, `Outcome unknown: a tool call had begun, so it was not tried again. ${message}`);
  }
  if (execution.attempts >= MAX_ATTEMPTS) return failed(code, `${message} It was tried ${MAX_ATTEMPTS} times.`);
  return { kind: 'retry', failure: { code, message: `${code}: ${message}` } };
}

/** A conversation that waits for a person ends its execution when nobody decided in time, or the agent could not go on afterwards. */
function endOfWait({ undecidedSince, decidedAt, turn }: ExecutionState, now: Date): Outcome | undefined {
  const { undecidedBefore, decidedBefore } = waitingLimits(now);
  if (undecidedSince !== null) {
    if (undecidedSince >= undecidedBefore) return undefined;
    const message = `Nobody decided within ${APPROVAL_DAYS} days on a tool call that needs an approval.`;
    return { ...failed('APPROVAL_EXPIRED', message), endsWait: true };
  }
  if (decidedAt !== null && decidedAt >= decidedBefore) return undefined;
  const { code, message } = errorOf(turn);
  return { ...failed(code, `The agent could not go on after the decision. ${message}`), endsWait: true };
}

function failed(code: string, message: string): Outcome & { kind: 'failed' } {
  return { kind: 'failed', failure: { code, message: `${code}: ${message}` } };
}

/** Why the turn came to no end. */
function errorOf(turn: ExecutionState['turn']): ExecutionFailure {
  const isOver = turn?.status === 'failed' || turn?.status === 'interrupted';
  if (isOver && turn.code !== null) return { code: turn.code, message: turn.message ?? '' };
  return fault('UNAVAILABLE', 'The process that ran it ended.');
}

/** Whether the same may go well at another time. A month's limit is over after weeks: then another slot is due. */
function isPassing(code: string): boolean {
  if (code === 'OPERATION_LIMIT_REACHED' || !(code in ERRORS)) return false;
  return !isFinal(ERRORS[code as ErrorCode]);
}
