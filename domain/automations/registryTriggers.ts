import { fault, invalid } from '../../core/errors.ts';
import type { AutomationRow } from '../../db/queries/automations/automations.ts';
import { countUsesOfRegistryTrigger } from '../../db/queries/automations/registryTriggers.ts';
import { selectConnections } from '../../db/queries/tools/nativeConnections.ts';
import { TriggerRefused } from '../../integrations/toolkits/registryTriggers.ts';
import type { TriggerType } from '../../integrations/toolkits/toolkit.ts';
import { ACTIVE } from '../../integrations/toolkits/toolkits.ts';
import type { WorkspaceContext } from '../context.ts';

type RegistryContext = Pick<WorkspaceContext, 'db' | 'workspaceId' | 'runtime'>;

/**
 * Starts a trigger of the registry with the workspace's connection to its toolkit, the newest active one. Returns its id. Throws
 * UNKNOWN_TRIGGER without such a connection, VALIDATION_ERROR when the registry refuses the configuration, and
 * TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export async function startRegistryTrigger(
  { db, workspaceId, runtime }: RegistryContext,
  trigger: TriggerType,
  config: Record<string, unknown>,
): Promise<string> {
  const all = await selectConnections(db, workspaceId);
  const own = all.filter(({ provider, toolkit_slug }) => provider === 'composio' && toolkit_slug === trigger.toolkit);
  const states = await runtime.toolkits.states(own);
  const connection = own.find(({ id }) => states.get(id)?.status === ACTIVE);
  if (!connection) {
    throw fault('UNKNOWN_TRIGGER', `The workspace has no active connection to the toolkit ${trigger.toolkit}.`);
  }
  try {
    return await runtime.toolkits.startTrigger(connection, trigger.slug, config);
  } catch (error) {
    if (error instanceof TriggerRefused) throw invalid('/body/triggerConfig', error.message);
    throw error;
  }
}

/**
 * Ends a trigger of the registry when no automation needs it any more, and lets it rest while all that have it are inactive. Never throws:
 * events of a trigger that stays by mistake start nothing.
 */
export async function releaseRegistryTrigger(
  { db, workspaceId, runtime }: RegistryContext,
  triggerId: AutomationRow['registry_trigger_id'],
): Promise<void> {
  if (triggerId === null) return;
  try {
    const { all, active } = await countUsesOfRegistryTrigger(db, workspaceId, triggerId);
    if (active === 0) await runtime.toolkits.endTrigger(triggerId, { pause: all > 0 });
  } catch (error) {
    runtime.logger?.warn({ err: error, workspaceId }, 'a trigger of the toolkit registry was not ended');
  }
}

/** The same for all automations of an agent that was deleted, one trigger after the other. */
export async function releaseRegistryTriggers(
  context: RegistryContext,
  automations: readonly Pick<AutomationRow, 'registry_trigger_id'>[],
): Promise<void> {
  for (const id of new Set(automations.map((row) => row.registry_trigger_id)))
    await releaseRegistryTrigger(context, id);
}
