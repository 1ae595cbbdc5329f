import { createHash } from 'node:crypto';
import { fault } from '../../core/errors.ts';
import { type AutomationRow, findAutomation, findExecutionOfKey } from '../../db/queries/automations/automations.ts';
import type { ExecutionRow, StoredEvent } from '../../db/queries/automations/executions.ts';
import { isQuotaUsed } from '../../db/queries/workspaces/quota.ts';
import type { WorkspaceContext } from '../context.ts';
import { hasAutomationAddress } from './address.ts';
import { dispatchExecution } from './execute.ts';
import { type AutomationEvent, eventDigest } from './executionMessage.ts';

/** The automation that requests to its address start now. Throws AUTOMATION_NOT_FOUND when it is not active, too: who tries addresses learns nothing. */
export async function findStartable(
  { db, workspaceId }: Pick<WorkspaceContext, 'db' | 'workspaceId'>,
  id: string,
): Promise<AutomationRow> {
  const automation = await findAutomation(db, workspaceId, id);
  if (automation?.status !== 'active' || !hasAutomationAddress(automation)) throw fault('AUTOMATION_NOT_FOUND');
  return automation;
}

/** An event that an automation was waiting for. */
export interface StartingEvent {
  automation: AutomationRow;
  /** As in the list of executions. */
  triggeredBy: string;
  event: AutomationEvent;
  /** By which the sender repeats it; undefined when each request is an event of its own. */
  key: string | undefined;
}

/**
 * Dispatches the execution for an event, or finds the one that the same event has begun within 24 hours. Throws OPERATION_LIMIT_REACHED, and
 * IDEMPOTENCY_KEY_REUSED when the key came with another event.
 */
export async function startFromEvent(
  context: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'clock'>,
  { automation, triggeredBy, event, key }: StartingEvent,
  send: (data: { workspaceId: string; executionId: string }) => void,
): Promise<Pick<ExecutionRow, 'id' | 'status'>> {
  const { db, workspaceId, clock } = context;
  const requestKey = key === undefined ? undefined : createHash('sha256').update(key).digest();
  const now = clock.now();
  const known = requestKey && (await findExecutionOfKey(db, workspaceId, automation.id, requestKey, now));
  if (known) return sameEvent(known, event);
  if (await isQuotaUsed(db, workspaceId, now)) throw fault('OPERATION_LIMIT_REACHED');
  const { execution, isNew } = await dispatchExecution(context, { automation, triggeredBy, event, requestKey });
  if (!isNew) return sameEvent(execution, event);
  send({ workspaceId, executionId: execution.id });
  return execution;
}

function sameEvent(execution: ExecutionRow, event: AutomationEvent): ExecutionRow {
  const first = execution.event as StoredEvent | null;
  if (first?.contentType !== event.contentType || first.digest !== eventDigest(event))
    throw fault('IDEMPOTENCY_KEY_REUSED');
  return execution;
}
