import type { Kysely, Selectable } from 'kysely';
import { mapInTurns } from '../../../core/ownTurn.ts';
import type { AgentVersions, DB } from '../../../generated/db.ts';
import type { AgentSnapshot } from '../../stored/agentSnapshot.ts';
import { type Page, type PageOf, selectPage } from '../shared/page.ts';

/** A published version: frozen, so a copy never goes stale. */
export type VersionRow = Selectable<AgentVersions>;

/** One published version of an agent, if there is one of this number. */
export function findVersion(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  versionNumber: number,
): Promise<VersionRow | undefined> {
  return db
    .selectFrom('agent_versions')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('version_number', '=', versionNumber)
    .executeTakeFirst();
}

/** A page of published versions without their snapshots, newest first, and how many there are on all pages. */
export function selectVersions(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  page: Page,
): Promise<PageOf<Pick<VersionRow, 'version_number' | 'notes' | 'created_at'>>> {
  const matching = db
    .selectFrom('agent_versions')
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId);
  return selectPage(
    matching,
    (query) => query.select(['version_number', 'notes', 'created_at']).orderBy('version_number', 'desc'),
    page,
  );
}

/** Items of a list that are written in one turn of the event loop. */
const STRETCH = 1_000;

/** The snapshot as JSON. Its lists may have thousands of items. */
async function textOf(snapshot: AgentSnapshot): Promise<string> {
  const fields: string[] = [];
  for (const [name, value] of Object.entries(snapshot)) {
    if (value === undefined) continue;
    const text = Array.isArray(value)
      ? `[${(await mapInTurns<object, string>(value, STRETCH, (item) => JSON.stringify(item))).join()}]`
      : JSON.stringify(value);
    fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${fields.join()}}`;
}

/** Freezes a snapshot under a new version number. */
export async function insertVersion(
  db: Kysely<DB>,
  version: {
    workspaceId: string;
    agentId: string;
    versionNumber: number;
    snapshot: AgentSnapshot;
    notes: string | null;
    now: Date;
  },
): Promise<void> {
  await db
    .insertInto('agent_versions')
    .values({
      workspace_id: version.workspaceId,
      agent_id: version.agentId,
      version_number: version.versionNumber,
      snapshot: await textOf(version.snapshot),
      notes: version.notes,
      created_at: version.now,
    })
    .execute();
}
