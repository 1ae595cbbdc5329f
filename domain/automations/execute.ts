import { ApiError, fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { AUTOMATION_USER } from '../../db/queries/automations/completeExecution.ts';
import {
  type ExecutionRow,
  insertExecution,
  type TakenExecution,
  takeExecution,
} from '../../db/queries/automations/executions.ts';
import type { WorkspaceRuntime } from '../../runtime/runtime.ts';
import { planTurn } from '../../runtime/turn/planTurn.ts';
import { runTurn } from '../../runtime/turn/runTurn.ts';
import type { WorkspaceContext } from '../context.ts';
import { type AutomationEvent, eventDigest, executionMessage } from './executionMessage.ts';
import { settleExecution } from './settleExecution.ts';

/** No caller waits for an execution. */
const TIMEOUT_MS = 300_000;

/** What begins an execution, other than a slot of a schedule. */
export interface ExecutionTrigger {
  automation: { id: string };
  /** As the API shows it: `manual`, `webhook_url`, `webhook:<slug>`. */
  triggeredBy: string;
  /** What a sender sent; the agent reads it as quoted data. */
  event?: AutomationEvent | undefined;
  /** SHA-256 of the key by which the sender repeats a request: within 24 hours it begins nothing new. */
  requestKey?: Buffer | undefined;
}

/**
 * Stores an execution as DISPATCHED, and answers with it. `isNew` is false when the sender repeated its request: then it is the execution
 * that the first one began. The caller sends the job `run-automation` after the commit. Whether the automation may run now is the
 * caller's to know.
 */
export async function dispatchExecution(
  { db, workspaceId, clock }: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>,
  { automation, triggeredBy, event, requestKey }: ExecutionTrigger,
): Promise<{ execution: ExecutionRow; isNew: boolean }> {
  return insertExecution(db, {
    workspace_id: workspaceId,
    id: newId(),
    automation_id: automation.id,
    triggered_by: triggeredBy,
    conversation_id: newId(),
    started_at: clock.now(),
    request_key: requestKey ?? null,
    event: event ? { ...event, digest: eventDigest(event) } : null,
  });
}

/**
 * Runs an execution that is due, in a conversation of its own, or brings one whose process died to its end. It can be called any number
 * of times, by any number of processes. What fails is stored with the execution and not thrown; only a fault of the database is.
 */
export async function runExecution(context: WorkspaceRuntime, executionId: string): Promise<void> {
  const { db, workspaceId, runtime } = context;
  const taken = await takeExecution(db, workspaceId, executionId, runtime.clock.now());
  if (!taken) return settleExecution(context, executionId);
  try {
    await runAttempt(context, taken);
  } catch (error) {
    if (!(error instanceof ApiError)) {
      runtime.logger?.warn({ err: error, workspaceId, executionId }, 'an execution of an automation failed');
    }
    await settleExecution(context, executionId, error instanceof ApiError ? error : fault('INTERNAL_ERROR'));
  }
}

/** One turn. The statement that stores its reply also completes the execution, unless it waits for approvals. */
async function runAttempt(context: WorkspaceRuntime, taken: TakenExecution): Promise<void> {
  if (taken.is_gone) throw fault('AUTOMATION_NOT_FOUND', 'The automation was deleted.');
  const { content, modelText } = executionMessage(taken.prompt, taken.event as AutomationEvent | null);
  const planned = await planTurn(context, {
    agentId: taken.agent_id,
    content,
    attachments: [],
    conversationId: taken.is_begun ? taken.conversation_id : undefined,
    prepared: {
      conversationId: taken.conversation_id,
      messageId: taken.id,
      modelText,
      isStored: taken.is_begun,
    },
    externalUserId: `${AUTOMATION_USER}${taken.automation_id}`,
    isTest: false,
    metadata: undefined,
    timeoutMs: TIMEOUT_MS,
    autoApprove: taken.hitl_mode === 'auto_approve',
  });
  await runTurn(planned);
}
