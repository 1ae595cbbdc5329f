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
import type { WorkspaceContext } from '../context.ts';
import { takeRoom } from '../workspaces/room.ts';
import { endAddresses, hasAutomationAddress, makeAddress } from './address.ts';
import { releaseRegistryTrigger, startRegistryTrigger } from './registryTriggers.ts';
import {
  type PreparedTrigger,
  slotOf,
  type TriggerChange,
  triggerColumns,
  triggerSettings,
  wantedTrigger,
} from './settings.ts';
import { isBuiltinTrigger, triggerOf } from './triggers.ts';

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
 * Finds the trigger that an automation waits for after a change, and starts it at the toolkit registry if it is one of those; undefined for
 * other modes. `stored` is undefined for a new automation. Throws VALIDATION_ERROR, UNKNOWN_TRIGGER and TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export async function prepareTrigger(
  context: Pick<WorkspaceContext, 'db' | 'workspaceId' | 'runtime'>,
  change: TriggerChange,
  stored?: AutomationRow,
): Promise<PreparedTrigger | undefined> {
  const { runtime } = context;
  const wanted = wantedTrigger(change, stored);
  if (!wanted) return undefined;
  const trigger = await triggerOf(runtime, wanted.toolkitSlug, wanted.slug);
  if (isBuiltinTrigger(trigger.slug)) return { ...trigger, registryTriggerId: null };
  const { visible, secrets } = triggerSettings(runtime.secrets, change, stored, trigger);
  return { ...trigger, registryTriggerId: await startRegistryTrigger(context, trigger, { ...visible, ...secrets }) };
}

/**
 * Adds an active automation to an agent. `trigger`: see prepareTrigger. Throws AGENT_NOT_FOUND, INVALID_CRON, INVALID_TIMEZONE,
 * VALIDATION_ERROR, RATE_LIMITED at the workspace's limit of automations, and AUTOMATION_NAME_TAKEN by automations_name_key (db/errors.ts).
 */
export async function addAutomation(
  { db, workspaceId, runtime, clock }: WorkspaceContext,
  agentId: string,
  body: NewAutomation,
  trigger: PreparedTrigger | undefined,
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
  const { db, workspaceId } = context;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const known = await findAutomation(db, workspaceId, id, agentId);
    if (!known) throw fault('AUTOMATION_NOT_FOUND');
    if (Object.keys(body).length === 0) return { automation: known, secret: undefined };
    // The registry may have to be asked: not within the transaction.
    const trigger = needsTrigger(body, known) ? await prepareTrigger(context, body, known) : undefined;
    const stored = await inTransaction(db, (trx) => storeChange(context, trx, { id, body, trigger })).catch(
      (error: unknown) => {
        void releaseRegistryTrigger(context, trigger?.registryTriggerId ?? null);
        throw error;
      },
    );
    if (!stored) continue;
    const { registry_trigger_id, status } = stored.automation;
    if (status === 'inactive') void releaseRegistryTrigger(context, registry_trigger_id);
    if (known.registry_trigger_id !== registry_trigger_id) {
      void releaseRegistryTrigger(context, known.registry_trigger_id);
    }
    return stored;
  }
  throw fault('UNAVAILABLE');
}

/** Whether a change is about the trigger. The registry also starts one again that rests. */
function needsTrigger(change: AutomationChange, { registry_trigger_id }: AutomationRow): boolean {
  const { triggerMode, triggerToolkitSlug, triggerSlug, triggerConfig, status } = change;
  const named = [triggerMode, triggerToolkitSlug, triggerSlug, triggerConfig].some((value) => value !== undefined);
  return named || (status === 'active' && registry_trigger_id !== null);
}

/** Stores a change. Undefined when another change has made `trigger` the wrong one. */
async function storeChange(
  { workspaceId, runtime, clock }: WorkspaceContext,
  trx: Transaction<DB>,
  { id, body, trigger }: { id: string; body: AutomationChange; trigger: PreparedTrigger | undefined },
): Promise<StoredAutomation | undefined> {
  const before = await lockAutomation(trx, workspaceId, id);
  if (!before) throw fault('AUTOMATION_NOT_FOUND');
  const wanted = needsTrigger(body, before) ? wantedTrigger(body, before)?.slug : undefined;
  if (wanted !== trigger?.slug) return undefined;
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
export async function dropAutomation(context: WorkspaceContext, agentId: string, id: string): Promise<void> {
  const { db, workspaceId, clock } = context;
  const dropped = await inTransaction(db, async (trx) => {
    const automation = await lockAutomation(trx, workspaceId, id, agentId);
    if (!automation) throw fault('AUTOMATION_NOT_FOUND');
    return softDeleteAutomation(trx, workspaceId, id, clock.now());
  });
  void releaseRegistryTrigger(context, dropped?.registry_trigger_id ?? null);
}
