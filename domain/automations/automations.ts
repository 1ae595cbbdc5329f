import type { Transaction } from 'kysely';
import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { slotPlanned } from '../../db/events.ts';
import { lockAgent } from '../../db/queries/agents/agents.ts';
import {
  type AutomationRow,
  findAutomation,
  insertAutomation,
  lockAutomation,
  softDeleteAutomation,
  updateAutomationRow,
} from '../../db/queries/automations/automations.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DB } from '../../generated/db.ts';
import type { TriggerType } from '../../integrations/toolkits/toolkit.ts';
import type { WorkspaceContext } from '../context.ts';
import { takeRoom } from '../workspaces/room.ts';
import { endAddresses, hasAutomationAddress, makeAddress } from './address.ts';
import { slotOf, type TriggerChange, triggerColumns, wantedTrigger } from './settings.ts';
import { triggerOf } from './triggers.ts';

/** A new automation, as a request describes it. */
export interface NewAutomation extends TriggerChange {
  name: string;
  description?: string | null;
  prompt: string;
  hitlMode?: AutomationRow['hitl_mode'];
  triggerMode: AutomationRow['trigger_mode'];
}

/** Fields of an automation that change. */
export interface AutomationChange extends TriggerChange {
  name?: string;
  description?: string;
  prompt?: string;
  status?: AutomationRow['status'];
  hitlMode?: AutomationRow['hitl_mode'];
}

/** An automation, and the secret of its address if it has just got one. */
export interface StoredAutomation {
  automation: AutomationRow;
  secret: string | undefined;
}

/** Times that a change is tried when another one is in its way. */
const MAX_TRIES = 3;

/**
 * Finds the trigger that a new automation waits for, at the toolkit registry if need be; undefined for other modes. Throws
 * VALIDATION_ERROR, UNKNOWN_TRIGGER and TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export async function triggerForNew(
  { runtime }: Pick<WorkspaceContext, 'runtime'>,
  automation: NewAutomation,
): Promise<TriggerType | undefined> {
  const wanted = wantedTrigger(automation, undefined);
  return wanted && triggerOf(runtime, wanted.toolkitSlug, wanted.slug);
}

/**
 * Adds an active automation to an agent. `trigger`: see triggerForNew. Throws AGENT_NOT_FOUND, INVALID_CRON, INVALID_TIMEZONE,
 * VALIDATION_ERROR, RATE_LIMITED at the workspace's limit of automations, and AUTOMATION_NAME_TAKEN by automations_name_key (db/errors.ts).
 */
export async function addAutomation(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  agentId: string,
  body: NewAutomation,
  trigger: TriggerType | undefined,
): Promise<StoredAutomation> {
  const id = newId();
  const now = clock.now();
  const columns = triggerColumns({ workspaceId, id, secrets: runtime.secrets }, body, undefined, trigger);
  const row = {
    workspace_id: workspaceId,
    id,
    agent_id: agentId,
    name: body.name,
    description: body.description ?? null,
    prompt: body.prompt,
    hitl_mode: body.hitlMode ?? 'pause_on_approval',
    ...columns,
    ...slotOf({ id, status: 'active', ...columns }, undefined, now),
    created_at: now,
    updated_at: now,
  };
  return inTransaction(db, async (trx) => {
    if (!(await lockAgent(trx, workspaceId, agentId))) throw fault('AGENT_NOT_FOUND');
    await takeRoom(trx, workspaceId, 'automation', { now });
    const automation = await insertAutomation(trx, row);
    const secret = hasAutomationAddress(automation) ? await makeAddress(trx, automation, now) : undefined;
    await announce(trx, automation);
    return { automation, secret };
  });
}

/**
 * Changes an automation of an agent. Its schedule and its address follow in the same transaction. Throws AUTOMATION_NOT_FOUND,
 * INVALID_CRON, INVALID_TIMEZONE, VALIDATION_ERROR, UNKNOWN_TRIGGER, TOOLKIT_REGISTRY_UNAVAILABLE, and AUTOMATION_NAME_TAKEN by
 * automations_name_key (db/errors.ts).
 */
export async function changeAutomation(
  context: WorkspaceContext,
  agentId: string,
  id: string,
  body: AutomationChange,
): Promise<StoredAutomation> {
  const { db, workspaceId, runtime } = context;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const known = await findAutomation(db, workspaceId, id, agentId);
    if (!known) throw fault('AUTOMATION_NOT_FOUND');
    if (Object.keys(body).length === 0) return { automation: known, secret: undefined };
    // The registry may have to be asked: not within the transaction.
    const wanted = changesTrigger(body) ? wantedTrigger(body, known) : undefined;
    const trigger = wanted && (await triggerOf(runtime, wanted.toolkitSlug, wanted.slug));
    const stored = await inTransaction(db, (trx) => storeChange(context, trx, { id, body, trigger }));
    if (stored) return stored;
  }
  throw fault('UNAVAILABLE');
}

function changesTrigger({ triggerMode, triggerToolkitSlug, triggerSlug, triggerConfig }: AutomationChange): boolean {
  return [triggerMode, triggerToolkitSlug, triggerSlug, triggerConfig].some((value) => value !== undefined);
}

/** Stores a change. Undefined when another change has made `trigger` the wrong one. */
async function storeChange(
  { workspaceId, runtime, clock }: WorkspaceContext,
  trx: Transaction<DB>,
  { id, body, trigger }: { id: string; body: AutomationChange; trigger: TriggerType | undefined },
): Promise<StoredAutomation | undefined> {
  const before = await lockAutomation(trx, workspaceId, id);
  if (!before) throw fault('AUTOMATION_NOT_FOUND');
  if (changesTrigger(body) && wantedTrigger(body, before)?.slug !== trigger?.slug) return undefined;
  const now = clock.now();
  const { name, description, prompt, hitlMode } = body;
  const status = body.status ?? before.status;
  const columns = triggerColumns({ workspaceId, id, secrets: runtime.secrets }, body, before, trigger);
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(hitlMode === undefined ? {} : { hitl_mode: hitlMode }),
    // A person has looked at it: what the service counted against it begins anew.
    ...(body.status === undefined ? {} : { status, inactive_reason: null, failures_in_row: 0 }),
    ...columns,
    ...slotOf({ id, status, ...columns }, before, now),
    updated_at: now,
  };
  const automation = await updateAutomationRow(trx, workspaceId, id, change);
  if (!automation) throw fault('AUTOMATION_NOT_FOUND');
  const secret = await changeAddress(trx, before, automation, now);
  await announce(trx, automation);
  return { automation, secret };
}

/** Makes, keeps or ends the address of an automation that has changed. Returns the secret of a new one. */
async function changeAddress(
  trx: Transaction<DB>,
  before: AutomationRow,
  after: AutomationRow,
  now: Date,
): Promise<string | undefined> {
  const isSameSender =
    before.trigger_mode === after.trigger_mode && before.trigger_toolkit_slug === after.trigger_toolkit_slug;
  if (hasAutomationAddress(before) && hasAutomationAddress(after) && isSameSender) return undefined;
  if (hasAutomationAddress(before)) await endAddresses(trx, before);
  return hasAutomationAddress(after) ? makeAddress(trx, after, now) : undefined;
}

/** Tells all processes that a slot may be due before anything else that they know of. */
async function announce(trx: Transaction<DB>, { due_at }: AutomationRow): Promise<void> {
  if (due_at !== null) await slotPlanned.notify(trx, { dueAt: due_at });
}

/** Deletes an automation of an agent with its schedule, addresses and secrets. A run that has begun goes on. Throws AUTOMATION_NOT_FOUND. */
export async function dropAutomation(
  { db, workspaceId, clock }: WorkspaceContext,
  agentId: string,
  id: string,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const automation = await lockAutomation(trx, workspaceId, id, agentId);
    if (!automation) throw fault('AUTOMATION_NOT_FOUND');
    await softDeleteAutomation(trx, workspaceId, id, clock.now());
  });
}
