import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from 'kysely';
import type { DB, HttpTools } from '../../../generated/db.ts';
import { notLinked } from '../agents/agentLinks.ts';
import { likeContains } from '../shared/like.ts';
import { newestFirst, type Page, type PageOf, selectPage } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { revising } from '../workspaces/revision.ts';

/** A tool of a workspace. */
export type HttpToolRow = Selectable<HttpTools>;

/** The columns that lists show. */
export type ListedTool = Omit<HttpToolRow, 'workspace_id' | 'secrets' | 'operations' | 'deleted_at'>;

const LISTED = ['id', 'name', 'description', 'tool_type', 'requires_approval', 'created_at', 'updated_at'] as const;

/**
 * The configuration as lists show it. Of an OpenAPI document that is an object only its version, title and version of the API remain:
 * a document has up to 512 KiB, and a page has up to 100 tools.
 */
const listedConfiguration = sql<HttpToolRow['configuration']>`
  case when tool_type = 'CUSTOM_INTEGRATION' and json_typeof(configuration -> 'openapi') = 'object' then (
    select json_object_agg(key, case when key = 'openapi' then json_strip_nulls(json_build_object(
      'openapi', left(value ->> 'openapi', 20),
      'info', json_build_object('title', left(value #>> '{info,title}', 200), 'version', left(value #>> '{info,version}', 200))
    )) else value end)
    from json_each(configuration)
  ) else configuration end`;

/** Filters of a list of tools; an absent one lets every tool pass. A type that no tool has gives an empty list. */
export interface HttpToolFilter {
  toolType?: string | undefined;
  search?: string | undefined;
}

function matchingTools(db: Kysely<DB>, workspaceId: string, { toolType, search }: HttpToolFilter) {
  let query = db.selectFrom('http_tools').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (toolType !== undefined) query = query.where(sql<boolean>`tool_type = ${toolType}`);
  if (search !== undefined) query = query.where('name', 'ilike', likeContains(search));
  return query;
}

/** A page of tools, newest first, with `listedConfiguration`, and how many there are on all pages. */
export function selectHttpTools(
  db: Kysely<DB>,
  workspaceId: string,
  filter: HttpToolFilter,
  page: Page,
): Promise<PageOf<ListedTool>> {
  const matching = matchingTools(db, workspaceId, filter);
  return selectPage(
    matching,
    (query) => query.select(LISTED).select(listedConfiguration.as('configuration')).$call(newestFirst),
    page,
  );
}

/** The tools that are not linked to the agent's draft, newest first. */
export function listLinkableTools(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  filter: HttpToolFilter,
): Promise<Pick<HttpToolRow, 'id' | 'name' | 'description' | 'tool_type'>[]> {
  return matchingTools(db, workspaceId, filter)
    .where(notLinked(workspaceId, agentId, 'http_tool', 'http_tools.id'))
    .select(['id', 'name', 'description', 'tool_type'])
    .$call(newestFirst)
    .execute();
}

function oneTool(db: Kysely<DB>, workspaceId: string, id: string) {
  return db
    .selectFrom('http_tools')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);
}

/** The tool, if it exists in the workspace and is not deleted. */
export function findHttpTool(db: Kysely<DB>, workspaceId: string, id: string): Promise<HttpToolRow | undefined> {
  return oneTool(db, workspaceId, id).executeTakeFirst();
}

/** As `findHttpTool`, locked until the transaction ends: other changes wait. */
export function lockHttpTool(trx: Transaction<DB>, workspaceId: string, id: string): Promise<HttpToolRow | undefined> {
  return oneTool(trx, workspaceId, id).forNoKeyUpdate().executeTakeFirst();
}

/** Stores a tool and returns it. Fails on `http_tools_name_key` when the name is taken. */
export function insertHttpTool(db: Kysely<DB>, tool: Insertable<HttpTools>): Promise<HttpToolRow> {
  return revising(db, tool.workspace_id, (trx) =>
    trx.insertInto('http_tools').values(tool).returningAll().executeTakeFirstOrThrow(),
  );
}

/** Changes columns of a tool and returns it; undefined when there is none. Fails on `http_tools_name_key` when the name is taken. */
export function updateHttpToolRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<HttpTools>,
): Promise<HttpToolRow | undefined> {
  return revising(db, workspaceId, (trx) =>
    trx
      .updateTable('http_tools')
      .set(change)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returningAll()
      .executeTakeFirst(),
  );
}

/** Marks the tool as deleted and erases its secrets. Returns whether there was one. */
export function softDeleteHttpTool(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return revising(db, workspaceId, (trx) => softDelete(trx, 'http_tools', { workspaceId, id }, now, { secrets: null }));
}

/**
 * Reserves a place for one more tool in the workspace until the transaction ends, so that two requests cannot both take the last
 * one. Returns false when the workspace's limit is reached.
 */
export async function reserveToolPlace(trx: Transaction<DB>, workspaceId: string): Promise<boolean> {
  const { tool_limit: limit } = await trx
    .selectFrom('workspaces')
    .select('tool_limit')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  if (limit === null) return true;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tools of ${workspaceId}`}, 0))`.execute(trx);
  const { tools } = await trx
    .selectFrom('http_tools')
    .select(sql<number>`count(*)`.as('tools'))
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return tools < limit;
}
