import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB, Workspaces } from '../../../generated/db.ts';

/** The columns of a workspace that limit it; null = no limit. */
export const LIMIT_COLUMNS = [
  'agent_limit',
  'operation_limit',
  'tool_limit',
  'skill_limit',
  'external_mcp_limit',
  'knowledge_source_limit',
  'automation_limit',
  'storage_limit',
  'request_limit',
  'turn_limit',
  'background_limit',
] as const satisfies readonly (keyof Workspaces)[];

/** Limits by column. Absent = the default, or unchanged. */
export type LimitValues = Partial<Record<(typeof LIMIT_COLUMNS)[number], number | null>>;

/** Things that a workspace has a limited number of, and the bytes that they store. */
export type LimitedThing = 'skill' | 'external_mcp' | 'knowledge_source' | 'automation';

/** What leaves no room for one more thing. */
export interface ReachedLimit {
  of: LimitedThing | 'storage';
  limit: number;
}

/** Numbers of things that are not deleted. A source counts while its content is being stored, too. */
const counts = (workspaceId: string, now: Date): Record<LimitedThing, RawBuilder<number>> => ({
  skill: sql`(select count(*) from skills where workspace_id = ${workspaceId} and deleted_at is null)`,
  external_mcp: sql`(select count(*) from external_mcps where workspace_id = ${workspaceId} and deleted_at is null)`,
  knowledge_source: sql`(select count(*) from knowledge_sources
    where workspace_id = ${workspaceId} and purged_at is null and (deleted_at is null or deleted_at > ${now}))`,
  automation: sql`(select count(*) from automations where workspace_id = ${workspaceId} and deleted_at is null)`,
});

/** Bytes of all stored files. Those of a deleted source count until they are purged. */
const storedBytes = (workspaceId: string): RawBuilder<number> => sql`(
  (select coalesce(sum(size_bytes), 0) from knowledge_sources where workspace_id = ${workspaceId} and purged_at is null)
  + (select coalesce(sum(size_bytes), 0) from skill_files where workspace_id = ${workspaceId})
  + (select coalesce(sum(size_bytes), 0) from hub_logos where workspace_id = ${workspaceId})
  + (select coalesce(sum(audio_bytes), 0) from messages where workspace_id = ${workspaceId} and audio_bytes is not null))::bigint`;

/**
 * Reserves a place for one more thing with `bytes` of files until the transaction ends, so that two requests cannot both take the
 * last one. `thing` null: for files of which there are a few at most. Returns the limit that leaves no room; undefined when there is room.
 */
export async function reserveRoom(
  trx: Transaction<DB>,
  workspaceId: string,
  thing: LimitedThing | null,
  { bytes, now }: { bytes: number; now: Date },
): Promise<ReachedLimit | undefined> {
  const row = await trx
    .selectFrom('workspaces')
    .select(['storage_limit', ...(thing === null ? [] : [`${thing}_limit` as const])])
    .select(sql`pg_advisory_xact_lock(hashtextextended(${`room of ${workspaceId}`}, 0))::text`.as('lock'))
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  const limit = thing === null ? null : ((row as LimitValues)[`${thing}_limit`] ?? null);
  const { storage_limit: storage } = row;
  // A statement of its own: it must see what was stored while this transaction waited for the lock.
  const { rows } = await sql<{ things: number; stored: number }>`
    select ${limit === null || thing === null ? sql`0::bigint` : counts(workspaceId, now)[thing]} as things,
      ${storage === null || bytes === 0 ? sql`0::bigint` : storedBytes(workspaceId)} as stored`.execute(trx);
  const { things = 0, stored = 0 } = rows[0] ?? {};
  if (thing !== null && limit !== null && things >= limit) return { of: thing, limit };
  if (storage !== null && bytes > 0 && stored + bytes > storage) return { of: 'storage', limit: storage };
  return undefined;
}

/** Whether the workspace has any storage left. For files whose size is not known yet: those that are made at the same time may go over it. */
export async function hasStorageLeft(db: Kysely<DB>, workspaceId: string): Promise<boolean> {
  const { rows } = await sql<{ left: boolean }>`
    select storage_limit is null or ${storedBytes(workspaceId)} < storage_limit as left
    from workspaces where id = ${workspaceId}`.execute(db);
  return rows[0]?.left ?? false;
}

/** What a workspace has of the things that its limits are about. */
export interface WorkspaceHoldings {
  agents: number;
  tools: number;
  skills: number;
  externalMcps: number;
  knowledgeSources: number;
  automations: number;
  storageBytes: number;
}

/** Counts what the workspace has. Deleted things do not count, but their files do until they are purged. */
export async function findHoldings(db: Kysely<DB>, workspaceId: string, now: Date): Promise<WorkspaceHoldings> {
  const things = counts(workspaceId, now);
  const { rows } = await sql<WorkspaceHoldings>`
    select
      (select count(*) from agents where workspace_id = ${workspaceId} and deleted_at is null) as agents,
      (select count(*) from http_tools where workspace_id = ${workspaceId} and deleted_at is null) as tools,
      ${things.skill} as skills, ${things.external_mcp} as "externalMcps", ${things.knowledge_source} as "knowledgeSources",
      ${things.automation} as automations,
      ${storedBytes(workspaceId)} as "storageBytes"`.execute(db);
  const row = rows[0];
  if (!row) throw new Error('An aggregate answered without a row.');
  return row;
}
