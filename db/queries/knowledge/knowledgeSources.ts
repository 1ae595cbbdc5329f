import { type Insertable, type Kysely, type Selectable, sql, type Updateable } from 'kysely';
import type { DB, KnowledgeSources } from '../../../generated/db.ts';
import { notLinked } from '../agents/agentLinks.ts';
import { likeContains } from '../shared/like.ts';
import { newestFirst, type Page, type PageOf, selectPage } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';

/** A text or file that agents can draw on. */
export type KnowledgeSourceRow = Selectable<KnowledgeSources>;

/** What narrows a list of knowledge sources; absent = no restriction. */
export interface KnowledgeSourceFilter {
  status: KnowledgeSourceRow['processing_status'] | undefined;
  search: string | undefined;
}

/** The source, if it exists in the workspace and is not deleted. */
export function findKnowledgeSource(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<KnowledgeSourceRow | undefined> {
  return db
    .selectFrom('knowledge_sources')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** A page of sources, newest first, and how many there are on all pages. */
export function selectKnowledgeSources(
  db: Kysely<DB>,
  workspaceId: string,
  { status, search }: KnowledgeSourceFilter,
  page: Page,
): Promise<PageOf<KnowledgeSourceRow>> {
  let matching = db
    .selectFrom('knowledge_sources')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null);
  if (status !== undefined) matching = matching.where('processing_status', '=', status);
  if (search !== undefined) matching = matching.where('name', 'ilike', likeContains(search));
  return selectPage(matching, (query) => query.selectAll().$call(newestFirst), page);
}

/** The sources that are not linked to the agent, newest first. */
export function listLinkableKnowledgeSources(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
): Promise<Pick<KnowledgeSourceRow, 'id' | 'name' | 'description'>[]> {
  return db
    .selectFrom('knowledge_sources')
    .select(['id', 'name', 'description'])
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .where(notLinked(workspaceId, agentId, 'knowledge_source', 'knowledge_sources.id'))
    .$call(newestFirst)
    .execute();
}

/**
 * Stores a new source whose content is still to be stored. It counts as deleted until `admitKnowledgeSource`, and from
 * `abandonedAt` on its content is purged: a process that is killed meanwhile leaves nothing behind.
 */
export async function prepareKnowledgeSource(
  db: Kysely<DB>,
  source: Omit<Insertable<KnowledgeSources>, 'deleted_at'>,
  abandonedAt: Date,
): Promise<void> {
  await db
    .insertInto('knowledge_sources')
    .values({ ...source, deleted_at: abandonedAt })
    .execute();
}

/** Makes a prepared source exist for the API; it then waits to be processed. Throws when it was purged. */
export function admitKnowledgeSource(db: Kysely<DB>, workspaceId: string, id: string): Promise<KnowledgeSourceRow> {
  return db
    .updateTable('knowledge_sources')
    .set({ deleted_at: null })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('purged_at', 'is', null)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Changes a source that is not deleted and returns it; undefined when there is none. */
export function updateKnowledgeSourceRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<KnowledgeSources>,
): Promise<KnowledgeSourceRow | undefined> {
  return db
    .updateTable('knowledge_sources')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes the source for the API; its content is still to be purged. Returns whether there was one. */
export function softDeleteKnowledgeSource(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  return softDelete(db, 'knowledge_sources', { workspaceId, id }, now);
}

/**
 * Takes a source that is not processed yet for one more run in its lane. Undefined when it is deleted, done or in the other lane. Of two runs at a time the one
 * that took it last counts: `attempts` of the row tells them apart.
 */
export function claimKnowledgeSource(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  isSlow: boolean,
  now: Date,
): Promise<KnowledgeSourceRow | undefined> {
  return db
    .updateTable('knowledge_sources')
    .set((eb) => ({ processing_status: 'PROCESSING', attempts: eb('attempts', '+', 1), updated_at: now }))
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where('is_slow', '=', isSlow)
    .where('processing_status', 'in', ['PENDING', 'PROCESSING'])
    .returningAll()
    .executeTakeFirst();
}

/** Ends or gives back a run. Returns whether it still counted: the source was not deleted, and no later run has taken it. */
export async function settleKnowledgeSource(
  db: Kysely<DB>,
  { workspace_id, id, attempts }: Pick<KnowledgeSourceRow, 'workspace_id' | 'id' | 'attempts'>,
  change: Updateable<KnowledgeSources>,
): Promise<boolean> {
  const result = await db
    .updateTable('knowledge_sources')
    .set(change)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where('processing_status', '=', 'PROCESSING')
    .where('attempts', '=', attempts)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Marks a source that is not done as failed, whoever runs it. */
export async function failKnowledgeSource(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  message: string,
  now: Date,
): Promise<void> {
  await db
    .updateTable('knowledge_sources')
    .set({ processing_status: 'FAILED', error_message: message, last_processed_at: now, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where('processing_status', 'in', ['PENDING', 'PROCESSING'])
    .execute();
}

/** Whether the source is deleted and its content not purged yet. */
export async function isToBePurged(db: Kysely<DB>, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('knowledge_sources')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes that the content of a deleted source is purged. */
export async function markPurged(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<void> {
  await db
    .updateTable('knowledge_sources')
    .set({ purged_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .execute();
}

/** SQL condition, in the words of the index: what is still to be processed or purged. */
const unfinished = sql<boolean>`((deleted_at is null and processing_status in ('PENDING', 'PROCESSING')) or (deleted_at is not null and purged_at is null))`;

/** SQL condition: sources of the slow lane. Deleted ones are purged in the other. */
const slow = sql<boolean>`(is_slow and deleted_at is null)`;

/**
 * Sources of all workspaces that are still to be processed in this lane or purged: of each workspace the one that waits longest, then of each the
 * next, so that a workspace with many delays no other. For the system handle.
 */
export async function findUnfinishedKnowledgeSources(
  system: Kysely<DB>,
  isSlow: boolean,
  now: Date,
  limit: number,
): Promise<{ workspaceId: string; sourceId: string }[]> {
  const { rows } = await sql<{ workspaceId: string; sourceId: string }>`
    select workspace_id as "workspaceId", id as "sourceId" from knowledge_sources
    where ${unfinished} and ${slow} = ${isSlow} and (deleted_at is null or deleted_at <= ${now})
    order by row_number() over (partition by workspace_id order by updated_at, id), updated_at, id limit ${limit}`.execute(
    system,
  );
  return rows;
}

/**
 * Since when the source that waits longest is to be processed or purged, of all workspaces; undefined when none is. Those that are
 * being processed do not wait, and those of the slow lane are not counted. For the system handle.
 */
export async function findOldestUnfinishedSourceTime(system: Kysely<DB>, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(coalesce(deleted_at, created_at)) as due from knowledge_sources
    where ${unfinished} and not ${slow} and (deleted_at <= ${now} or (deleted_at is null and processing_status = 'PENDING'))`.execute(
    system,
  );
  return rows[0]?.due ?? undefined;
}
