import { type Insertable, type Kysely, type Selectable, type Transaction, type Updateable, sql } from 'kysely';
import type { Agents, DB } from '../../generated/db.ts';

/** An agent with the display name of its model, when that is one of the workspace's own. */
export type AgentRow = Selectable<Agents> & { custom_model_name: string | null };

/** Where an agent is in its life. */
export type AgentStatus = Selectable<Agents>['status'];

/** What narrows a list of agents; absent = no restriction. */
export interface AgentFilter {
  status: readonly AgentStatus[] | undefined;
  search: string | undefined;
  categories: readonly string[] | undefined;
  includeArchived: boolean;
}

/** Escapes what LIKE reads as a pattern, so that the text is matched as it is written. */
export function likeContains(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

function agentsWithModel(db: Kysely<DB>, workspaceId: string) {
  return db
    .selectFrom('agents as a')
    .leftJoin('ai_models as m', (join) => join.onRef('m.workspace_id', '=', 'a.workspace_id').onRef('m.id', '=', 'a.ai_model_id'))
    .where('a.workspace_id', '=', workspaceId)
    .where('a.deleted_at', 'is', null)
    .selectAll('a')
    .select('m.name as custom_model_name');
}

/** The agent, if it exists in the workspace and is not deleted. */
export function findAgent(db: Kysely<DB>, workspaceId: string, id: string): Promise<AgentRow | undefined> {
  return agentsWithModel(db, workspaceId).where('a.id', '=', id).executeTakeFirst();
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

/** The agent, locked until the transaction ends: changes of its editable state take turns. */
export function lockAgent(trx: Transaction<DB>, workspaceId: string, id: string): Promise<Selectable<Agents> | undefined> {
  return trx
    .selectFrom('agents')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/** A page of agents, newest first, and how many there are on all pages. */
export async function listAgents(
  db: Kysely<DB>,
  workspaceId: string,
  filter: AgentFilter,
  page: { offset: number; limit: number },
): Promise<{ rows: Selectable<Agents>[]; total: number }> {
  let matching = db.selectFrom('agents').where('workspace_id', '=', workspaceId).where('deleted_at', 'is', null);
  if (filter.status?.length) matching = matching.where('status', 'in', [...filter.status]);
  else if (!filter.includeArchived) matching = matching.where('status', '<>', 'archived');
  if (filter.search !== undefined) {
    const pattern = likeContains(filter.search);
    matching = matching.where((eb) => eb.or([eb('name', 'ilike', pattern), eb('description', 'ilike', pattern)]));
  }
  if (filter.categories?.length) {
    matching = matching.where(sql<boolean>`categories && ${[...filter.categories]}::text[]`);
  }
  const rows = await matching
    .selectAll()
    .select(sql<number>`count(*) over ()`.as('total'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  if (rows[0]) return { rows, total: Number(rows[0].total) };
  if (page.offset === 0) return { rows, total: 0 };
  const counted = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return { rows, total: Number(counted.total) };
}

/** Stores a new agent. Fails on `agents_name_key` when the name is taken. */
export async function insertAgent(db: Kysely<DB>, agent: Insertable<Agents>): Promise<void> {
  await db.insertInto('agents').values(agent).execute();
}

/** Changes columns of an agent. Fails on `agents_name_key` when the name is taken. */
export async function updateAgentRow(db: Kysely<DB>, workspaceId: string, id: string, change: Updateable<Agents>): Promise<void> {
  await db.updateTable('agents').set(change).where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
}

/** Deletes the agent for the API. Answers whether there was one. */
export async function softDeleteAgent(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('agents')
    .set({ deleted_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Takes a place for one more agent in the workspace until the transaction ends, so that two creations cannot both take
 * the last one. Answers false when the workspace's limit is reached.
 */
export async function reserveAgentPlace(trx: Transaction<DB>, workspaceId: string): Promise<boolean> {
  const workspace = await trx.selectFrom('workspaces').select('agent_limit').where('id', '=', workspaceId).executeTakeFirstOrThrow();
  if (workspace.agent_limit === null) return true;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`agents of ${workspaceId}`}, 0))`.execute(trx);
  const { agents } = await trx
    .selectFrom('agents')
    .select(sql<number>`count(*)`.as('agents'))
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(agents) < workspace.agent_limit;
}
