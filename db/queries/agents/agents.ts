import {
  type ExpressionBuilder,
  type Insertable,
  type Kysely,
  type QueryCreator,
  type Selectable,
  sql,
  type Transaction,
  type Updateable,
} from 'kysely';
import type { Agents, DB } from '../../../generated/db.ts';
import { compileOnce } from '../../compiled.ts';
import { shareReads } from '../../sharedReads.ts';
import { notDeletedByKey } from '../shared/byKey.ts';
import { likeContains } from '../shared/like.ts';
import type { Page } from '../shared/page.ts';
import { newestFirst } from '../shared/page.ts';
import { softDelete } from '../shared/softDelete.ts';
import { raisingRevision, revising } from '../workspaces/revision.ts';

/** An agent with the display name of its model, when that is one of the workspace's own, and whether it is connected to a channel. */
export type AgentRow = Selectable<Agents> & { custom_model_name: string | null; has_channel: boolean };

/** Where an agent is in its life. */
export type AgentStatus = Selectable<Agents>['status'];

/** What narrows a list of agents; absent = no restriction. */
export interface AgentFilter {
  status: readonly AgentStatus[] | undefined;
  search: string | undefined;
  categories: readonly string[] | undefined;
  includeArchived: boolean;
}

const agentById = compileOnce((db, args: { workspaceId: string; id: string }) =>
  db
    .selectFrom('agents as a')
    .leftJoin('ai_models as m', (join) =>
      join.onRef('m.workspace_id', '=', 'a.workspace_id').onRef('m.id', '=', 'a.ai_model_id'),
    )
    .where('a.workspace_id', '=', args.workspaceId)
    .where('a.id', '=', args.id)
    .where(notDeletedByKey('a.deleted_at'))
    .selectAll('a')
    .select('m.name as custom_model_name')
    .select(hasChannel(args.workspaceId, 'a.id')),
);

const readAgent = shareReads(async (db, workspaceId, id): Promise<Readonly<AgentRow> | undefined> => {
  const [row] = await agentById(db, { workspaceId, id });
  return row;
});

/** The agent, if it exists in the workspace and is not deleted. Others who ask at the same time may get the same object. */
export function findAgent(db: Kysely<DB>, workspaceId: string, id: string): Promise<Readonly<AgentRow> | undefined> {
  return readAgent(db, workspaceId, id);
}

/** Whether the agent exists in the workspace and is not deleted. */
export async function agentExists(db: Kysely<DB>, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('agents')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The agent, locked until the transaction ends: changes of its editable state take turns. New conversations of the agent
 * do not wait for it, since its key stays as it is.
 */
export function lockAgent(
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<Selectable<Agents> | undefined> {
  return trx
    .selectFrom('agents')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

interface AgentListArgs {
  workspaceId: string;
  status: readonly AgentStatus[];
  /** For LIKE; null = any. */
  pattern: string | null;
  categories: readonly string[] | null;
}

function matchingAgents(db: Kysely<DB>, args: AgentListArgs) {
  return db
    .selectFrom('agents')
    .where('workspace_id', '=', args.workspaceId)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`status = any (${args.status}::text[])`)
    .where(
      sql<boolean>`(${args.pattern}::text is null or name ilike ${args.pattern} or description ilike ${args.pattern})`,
    )
    .where(sql<boolean>`(${args.categories}::text[] is null or categories && ${args.categories}::text[])`);
}

const agentPage = compileOnce((db, args: AgentListArgs & Page) =>
  matchingAgents(db, args)
    .select([
      'id',
      'name',
      'avatar_url',
      'status',
      'draft_version_number',
      'published_version_number',
      'created_at',
      'updated_at',
    ])
    .select(sql<number>`count(*) over ()`.as('total'))
    .$call(newestFirst)
    .limit(args.limit)
    .offset(args.offset),
);

const agentCount = compileOnce((db, args: AgentListArgs) =>
  matchingAgents(db, args).select(sql<number>`count(*)`.as('total')),
);

const EVERY_STATUS: readonly AgentStatus[] = ['draft', 'active', 'inactive', 'archived'];

/** A page of agents, newest first, and how many there are on all pages. */
export async function selectAgents(db: Kysely<DB>, workspaceId: string, filter: AgentFilter, page: Page) {
  const { status, includeArchived, search, categories } = filter;
  const args: AgentListArgs = {
    workspaceId,
    status: status?.length ? status : EVERY_STATUS.filter((one) => includeArchived || one !== 'archived'),
    pattern: search === undefined ? null : likeContains(search),
    categories: categories?.length ? categories : null,
  };
  const rows = await agentPage(db, { ...args, ...page });
  if (rows[0]) return { rows, total: rows[0].total };
  if (page.offset === 0) return { rows, total: 0 };
  // Beyond the last page there is no row to tell the total.
  const [counted] = await agentCount(db, args);
  return { rows, total: counted?.total ?? 0 };
}

/** Stores a new agent and returns it. Fails on `agents_name_key` when the name is taken. */
export function insertAgent(db: Kysely<DB>, agent: Insertable<Agents>): Promise<AgentRow> {
  return db
    .insertInto('agents')
    .values(agent)
    .returningAll()
    .returning(customModelName(agent.workspace_id))
    .returning(sql<boolean>`false`.as('has_channel'))
    .executeTakeFirstOrThrow();
}

/** Changes columns of an agent and returns it; undefined when there is none. Fails on `agents_name_key` when the name is taken. */
export function updateAgentRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<Agents>,
): Promise<AgentRow | undefined> {
  const update = (on: QueryCreator<DB>) =>
    on
      .updateTable('agents')
      .set(change)
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returningAll()
      .returning(customModelName(workspaceId))
      .returning(hasChannel(workspaceId, 'agents.id'));
  if (!REVISED.some((column) => change[column] !== undefined)) return update(db).executeTakeFirst();
  if (db.isTransaction) return revising(db, workspaceId, (trx) => update(trx).executeTakeFirst());
  return db
    .with('changed', update)
    .with('raised', () => sql<object>`(${raisingRevision(workspaceId, sql`exists (select from changed)`)})`)
    .selectFrom('changed')
    .selectAll()
    .executeTakeFirst();
}

/** What turns of other agents keep in memory of an agent, and how they learn that it has published a version. */
const REVISED = ['name', 'description', 'status', 'published_version_number', 'deleted_at'] as const;

function customModelName(workspaceId: string) {
  return ({ selectFrom }: ExpressionBuilder<DB, 'agents'>) =>
    selectFrom('ai_models as m')
      .where('m.workspace_id', '=', workspaceId)
      .whereRef('m.id', '=', 'agents.ai_model_id')
      .select('m.name')
      .as('custom_model_name');
}

/** Whether the agent, whose id `agentId` refers to, has a connection to a channel. */
function hasChannel(workspaceId: string, agentId: string) {
  return sql<boolean>`exists (select from channel_connections c where c.workspace_id = ${workspaceId}
    and c.agent_id = ${sql.ref(agentId)} and c.deleted_at is null)`.as('has_channel');
}

/** Deletes the agent for the API. Returns whether there was one. */
export function softDeleteAgent(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  return revising(db, workspaceId, (trx) => softDelete(trx, 'agents', { workspaceId, id }, now));
}

/**
 * Takes a place for one more agent in the workspace until the transaction ends, so that two creations cannot both take
 * the last one. Returns false when the workspace's limit is reached.
 */
export async function reserveAgentPlace(trx: Transaction<DB>, workspaceId: string): Promise<boolean> {
  const { agent_limit: limit } = await trx
    .selectFrom('workspaces')
    .select('agent_limit')
    // In the same round trip: creations in a workspace with a limit wait for each other.
    .select(
      sql`case when agent_limit is not null then
        pg_advisory_xact_lock(hashtextextended(${`agents of ${workspaceId}`}, 0))::text end`.as('lock'),
    )
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow();
  if (limit === null) return true;
  // A statement of its own: it must see the agents that were created while this transaction waited for the lock.
  const { agents } = await trx
    .selectFrom('agents')
    .select(sql<number>`count(*)`.as('agents'))
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return agents < limit;
}

/** The workspace of an agent that is known by its id alone. For the system handle. */
export async function findWorkspaceOfAgent(system: Kysely<DB>, id: string): Promise<string | undefined> {
  // The primary key begins with the workspace, so one lookup for each workspace is faster than reading all rows.
  const { rows } = await sql<{ id: string }>`
    select w.id from workspaces w
    cross join lateral (select from agents a where a.workspace_id = w.id and a.id = ${id} and a.deleted_at is null) as found
    limit 1`.execute(system);
  return rows[0]?.id;
}
