import { type ErrorDetail, fault } from '../../core/errors.ts';
import { faultAt } from '../../core/faults.ts';
import { readSchedule } from '../../core/schedule.ts';
import type { SecretBox } from '../../core/secrets.ts';
import type { AutomationRow } from '../../db/queries/automations/automations.ts';
import type { TriggerType } from '../../integrations/toolkits/toolkit.ts';
import { NO_SLOT, type SlotColumns, slotAfter } from './schedule.ts';
import { openTriggerSecrets, readTriggerConfig, sealTriggerSecrets, type TriggerSettings } from './triggers.ts';

/** What a request says about when an automation runs. Absent = as it is. */
export interface TriggerChange {
  triggerMode?: AutomationRow['trigger_mode'];
  schedule?: string | null;
  timezone?: string | null;
  triggerToolkitSlug?: string | null;
  triggerSlug?: string | null;
  triggerConfig?: Record<string, unknown> | null;
}

/** The columns of an automation that say what starts it. */
export type TriggerColumns = Pick<
  AutomationRow,
  | 'trigger_mode'
  | 'schedule'
  | 'timezone'
  | 'trigger_toolkit_slug'
  | 'trigger_slug'
  | 'trigger_secrets'
  | 'registry_trigger_id'
> & { trigger_config: string };

/** An automation before it has anything. */
const NOTHING = {
  schedule: null,
  timezone: null,
  trigger_toolkit_slug: null,
  trigger_slug: null,
  trigger_config: {},
  trigger_secrets: null,
  registry_trigger_id: null,
};

const NO_TRIGGER = {
  trigger_toolkit_slug: null,
  trigger_slug: null,
  trigger_config: '{}',
  trigger_secrets: null,
  registry_trigger_id: null,
};

/** Which trigger of a toolkit an automation will wait for, after a change. */
export interface WantedTrigger {
  toolkitSlug: string;
  slug: string;
}

/**
 * The trigger that an automation waits for after a change; undefined unless its mode is `webhook`. `stored` is the automation as it is,
 * undefined for a new one. Throws VALIDATION_ERROR when the mode needs what is missing.
 */
export function wantedTrigger(
  change: TriggerChange,
  stored: Pick<AutomationRow, 'trigger_mode' | 'trigger_toolkit_slug' | 'trigger_slug'> | undefined,
): WantedTrigger | undefined {
  const mode = change.triggerMode ?? stored?.trigger_mode;
  if (mode !== 'webhook') return undefined;
  const toolkitSlug = change.triggerToolkitSlug ?? stored?.trigger_toolkit_slug ?? undefined;
  const slug = change.triggerSlug ?? stored?.trigger_slug ?? undefined;
  const missing: ErrorDetail[] = [];
  if (toolkitSlug === undefined) missing.push(required('triggerToolkitSlug', mode));
  if (slug === undefined) missing.push(required('triggerSlug', mode));
  if (toolkitSlug === undefined || slug === undefined) throw fault('VALIDATION_ERROR', undefined, { details: missing });
  return { toolkitSlug, slug };
}

function required(field: string, mode: string): ErrorDetail {
  return faultAt(`/body/${field}`, `is required with trigger mode ${mode}`, 'required');
}

/** A trigger, and what the registry calls the one that it has started for the automation; null for a built-in one. */
export type PreparedTrigger = TriggerType & { registryTriggerId: string | null };

/** The configuration of a trigger after a change. Throws VALIDATION_ERROR. */
export function triggerSettings(
  secrets: SecretBox,
  change: TriggerChange,
  stored: AutomationRow | undefined,
  trigger: TriggerType,
): TriggerSettings {
  // A secret belongs to the sender that it was given for.
  const isSameSender = stored?.trigger_toolkit_slug === trigger.toolkit;
  const storedSecrets = stored && isSameSender ? openTriggerSecrets(secrets, stored) : {};
  const present = stored && isSameSender ? stored.trigger_config : {};
  const config = change.triggerConfig === undefined ? present : (change.triggerConfig ?? {});
  return readTriggerConfig(trigger, config, storedSecrets);
}

/** Whose columns these are, and what seals their secrets. */
interface TriggerOwner {
  workspaceId: string;
  id: string;
  secrets: SecretBox;
}

/**
 * What starts an automation after a change. What the mode does not use is ignored; a schedule stays stored in other modes. `trigger` is
 * the one of `wantedTrigger`; undefined: it stays as it is. Throws INVALID_CRON, INVALID_TIMEZONE and VALIDATION_ERROR.
 */
export function triggerColumns(
  { workspaceId, id, secrets }: TriggerOwner,
  change: TriggerChange,
  stored: AutomationRow | undefined,
  trigger: PreparedTrigger | undefined,
): TriggerColumns {
  const mode = change.triggerMode ?? stored?.trigger_mode ?? 'manual';
  const before = stored ?? NOTHING;
  const { schedule, timezone } = before;
  if (mode === 'schedule') {
    const expression = change.schedule ?? schedule;
    if (expression === null) throw fault('VALIDATION_ERROR', undefined, { details: [required('schedule', mode)] });
    const { timeZone } = readSchedule(expression, change.timezone ?? timezone);
    return { ...NO_TRIGGER, trigger_mode: mode, schedule: expression, timezone: timeZone };
  }
  if (mode !== 'webhook') return { ...NO_TRIGGER, trigger_mode: mode, schedule, timezone };
  const { trigger_toolkit_slug, trigger_slug, trigger_config, trigger_secrets, registry_trigger_id } = before;
  const kept = { trigger_mode: mode, schedule, timezone };
  if (!trigger) {
    return {
      ...kept,
      trigger_toolkit_slug,
      trigger_slug,
      trigger_config: JSON.stringify(trigger_config),
      trigger_secrets,
      registry_trigger_id,
    };
  }
  const settings = triggerSettings(secrets, change, stored, trigger);
  return {
    ...kept,
    trigger_toolkit_slug: trigger.toolkit,
    trigger_slug: trigger.slug,
    trigger_config: JSON.stringify(settings.visible),
    trigger_secrets: sealTriggerSecrets(secrets, workspaceId, id, settings.secrets),
    registry_trigger_id: trigger.registryTriggerId,
  };
}

/** When an automation runs next; `stored` keeps its slot when nothing that it depends on has changed. */
export function slotOf(
  automation: Pick<AutomationRow, 'id' | 'status' | 'trigger_mode' | 'schedule' | 'timezone'>,
  stored: AutomationRow | undefined,
  now: Date,
): SlotColumns {
  const { id, status, trigger_mode, schedule, timezone } = automation;
  if (status !== 'active' || trigger_mode !== 'schedule' || schedule === null) return NO_SLOT;
  const isUnchanged =
    stored?.status === status &&
    stored.trigger_mode === trigger_mode &&
    stored.schedule === schedule &&
    stored.timezone === timezone;
  // A slot that is due already, and not begun yet, must not be lost.
  if (isUnchanged && stored.next_run_at !== null) return { next_run_at: stored.next_run_at, due_at: stored.due_at };
  return slotAfter(id, readSchedule(schedule, timezone), now);
}
