import type { AutomationRow, ListedExecution } from '../../db/queries/automations/automations.ts';
import { hasAutomationAddress, webhookUrl } from '../../domain/automations/address.ts';
import type { components } from '../../generated/api.ts';

/** The automation as the contract shows it. `secret` is that of an address which has just been made; it is shown this once. */
export function automationBody(
  row: AutomationRow,
  { publicUrl }: { publicUrl: string },
  secret?: string,
): components['schemas']['Automation'] {
  const address = hasAutomationAddress(row) ? { webhookUrl: webhookUrl(publicUrl, secret) } : {};
  return {
    publicId: row.id,
    name: row.name,
    description: row.description,
    prompt: row.prompt,
    status: row.status,
    hitlMode: row.hitl_mode,
    triggerMode: row.trigger_mode,
    schedule: row.schedule,
    timezone: row.timezone,
    triggerToolkitSlug: row.trigger_toolkit_slug,
    triggerSlug: row.trigger_slug,
    triggerConfig: { ...row.trigger_config, ...address },
    lastRunAt: row.last_run_at?.toISOString() ?? null,
    lastRunStatus: row.last_run_status,
    nextRunAt: row.next_run_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

const MAX_INT32 = 2_147_483_647;

/** The execution as the contract shows it. */
export function executionBody(row: ListedExecution): components['schemas']['AutomationExecution'] {
  const { completed_at: completedAt, started_at: startedAt } = row;
  return {
    publicId: row.id,
    status: row.status,
    triggeredBy: row.triggered_by,
    startedAt: startedAt.toISOString(),
    completedAt: completedAt?.toISOString() ?? null,
    durationMs: completedAt && Math.min(completedAt.getTime() - startedAt.getTime(), MAX_INT32),
    // One that is tried again has the error of its last attempt stored.
    errorMessage: row.status === 'FAILED' ? row.error_message : null,
  };
}
