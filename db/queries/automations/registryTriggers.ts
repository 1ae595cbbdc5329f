import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';
import type { AutomationRow } from './automations.ts';

/** Automations that one event starts, at most. */
const MAX_STARTED = 100;

/** The active automations, of any workspace, that wait for a trigger of the registry. `system` sees all workspaces. */
export async function findAutomationsOfRegistryTrigger(
  system: Kysely<DB>,
  registryTriggerId: string,
): Promise<AutomationRow[]> {
  return await system
    .selectFrom('automations')
    .selectAll()
    .where('registry_trigger_id', '=', registryTriggerId)
    .where('trigger_mode', '=', 'webhook')
    .where('status', '=', 'active')
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(MAX_STARTED)
    .execute();
}

/** How many automations of the workspace have this trigger of the registry, and how many of them are active. */
export async function countUsesOfRegistryTrigger(
  db: Kysely<DB>,
  workspaceId: string,
  registryTriggerId: string,
): Promise<{ all: number; active: number }> {
  return await db
    .selectFrom('automations')
    .select([sql<number>`count(*)`.as('all'), sql<number>`count(*) filter (where status = 'active')`.as('active')])
    .where('workspace_id', '=', workspaceId)
    .where('registry_trigger_id', '=', registryTriggerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
}
