import { systemClock } from '../../../core/clock.ts';
import { ensureHub, updateHubRow } from '../../../db/queries/hubs/hubs.ts';
import type { SeededWorkspace, TestDatabase } from '../db/database.ts';

type HubSettingsOfTest = Omit<Parameters<typeof updateHubRow>[2], 'updated_at'>;

/** Gives a workspace a hub with this subdomain, straight in the database. */
export async function openHub(
  { database }: Pick<TestDatabase, 'database'>,
  { workspaceId }: Pick<SeededWorkspace, 'workspaceId'>,
  subdomain: string,
  settings: HubSettingsOfTest = {},
): Promise<void> {
  const db = database.forWorkspace(workspaceId);
  await ensureHub(db, workspaceId);
  await db.insertInto('hub_names').values({ name: subdomain, workspace_id: workspaceId, kind: 'subdomain' }).execute();
  await updateHubRow(db, workspaceId, { ...settings, subdomain, updated_at: systemClock.now() });
}
