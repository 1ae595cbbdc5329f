import {
  type Insertable,
  type Kysely,
  type RawBuilder,
  type Selectable,
  sql,
  type Transaction,
  type Updateable,
} from 'kysely';
import type { AgentLinks, DB, HttpTools } from '../../../generated/db.ts';
import { notDeletedByKey } from '../shared/byKey.ts';

/** What an agent can be linked to. */
export type LinkKind = Selectable<AgentLinks>['kind'];

/** A link of an agent's draft. */
export type LinkRow = Selectable<AgentLinks>;

/** A link with what the contract shows of its target. */
export type LinkedRow = LinkRow & {
  target_name: string;
  /** Of an http_tool. */
  tool_type: Selectable<HttpTools>['tool_type'] | null;
  /** Of an external_mcp. */
  server_url: string | null;
  /** Name of the model of a sub_agent link, when it is one of the workspace's own. */
  custom_model_name: string | null;
};

/** What can be set on a link; each kind uses some of it. */
export type LinkSettings = Partial<
  Pick<LinkRow, 'active' | 'requires_approval' | 'instance_mode' | 'description' | 'ai_model_id' | 'sort_order'>
>;

/** The table of each kind's targets; all have workspace_id, id, name, created_at and deleted_at. */
const TARGETS = {
  skill: 'skills',
  knowledge_source: 'knowledge_sources',
  http_tool: 'http_tools',
  external_mcp: 'external_mcps',
  native_mcp: 'native_connections',
  sub_agent: 'agents',
} as const satisfies Record<LinkKind, keyof DB>;

function targetTable(kind: LinkKind): RawBuilder<unknown> {
  return sql.table(TARGETS[kind]);
}

/**
 * The links of an agent, of one kind or of all, with their targets; the one made last comes last. Links whose target is
 * deleted are left out.
 */
export async function selectLinks(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  kind: LinkKind | null = null,
): Promise<LinkedRow[]> {
  const { rows } = await linkedRows(workspaceId, agentId, kind).execute(db);
  return rows;
}

/**
 * The statement of `selectLinks`, which is a table too for statements that read more. Targets are found by their keys: for each link all targets of the
 * workspace were read while the tables had no statistics, and 3,000 links took 5 s.
 */
export function linkedRows(workspaceId: string, agentId: string, kind: LinkKind | null): RawBuilder<LinkedRow> {
  return sql<LinkedRow>`
    select l.*, coalesce(s.name, k.name, h.name, e.name, n.name, a.name) as target_name,
           h.tool_type, e.url as server_url, m.name as custom_model_name
    from agent_links l
    left join skills s on l.kind = 'skill' and s.workspace_id = l.workspace_id and s.id = l.target_id and ${notDeletedByKey('s.deleted_at')}
    left join knowledge_sources k on l.kind = 'knowledge_source' and k.workspace_id = l.workspace_id and k.id = l.target_id and ${notDeletedByKey('k.deleted_at')}
    left join http_tools h on l.kind = 'http_tool' and h.workspace_id = l.workspace_id and h.id = l.target_id and ${notDeletedByKey('h.deleted_at')}
    left join external_mcps e on l.kind = 'external_mcp' and e.workspace_id = l.workspace_id and e.id = l.target_id and ${notDeletedByKey('e.deleted_at')}
    left join native_connections n on l.kind = 'native_mcp' and n.workspace_id = l.workspace_id and n.id = l.target_id and ${notDeletedByKey('n.deleted_at')}
    left join agents a on l.kind = 'sub_agent' and a.workspace_id = l.workspace_id and a.id = l.target_id and ${notDeletedByKey('a.deleted_at')}
    left join ai_models m on m.workspace_id = l.workspace_id and m.id = l.ai_model_id and ${notDeletedByKey('m.deleted_at')}
    where l.workspace_id = ${workspaceId} and l.agent_id = ${agentId} and (${kind}::text is null or l.kind = ${kind}::text)
      and coalesce(s.id, k.id, h.id, e.id, n.id, a.id) is not null
    order by l.seq`;
}

/** Which of the targets exist. */
export async function findTargets(
  db: Kysely<DB>,
  workspaceId: string,
  kind: LinkKind,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select id from ${targetTable(kind)}
    where workspace_id = ${workspaceId} and id = any (${ids}::uuid[]) and deleted_at is null`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** As `findTargets`; the targets that exist cannot be deleted before the transaction ends. */
export async function lockTargets(
  trx: Transaction<DB>,
  workspaceId: string,
  kind: LinkKind,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  // Ordered, so that two transactions that hold the same targets do not wait for each other.
  const { rows } = await sql<{ id: string }>`
    select id from ${targetTable(kind)}
    where workspace_id = ${workspaceId} and id = any (${ids}::uuid[]) and deleted_at is null
    order by id for share`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** Rows of one statement, which takes some milliseconds to write. PostgreSQL takes no more than 65,535 parameters in one. */
const MAX_INSERTED = 500;

/** Stores links in their order. Fails on `agent_links_key` when one is there already. */
export async function insertLinks(trx: Transaction<DB>, rows: Insertable<AgentLinks>[]): Promise<void> {
  for (let from = 0; from < rows.length; from += MAX_INSERTED) {
    const some = rows.slice(from, from + MAX_INSERTED);
    await trx.insertInto('agent_links').values(some).execute();
  }
}

/** Changes a link. Returns whether it exists. */
export async function updateLinkRow(
  trx: Transaction<DB>,
  workspaceId: string,
  agentId: string,
  kind: LinkKind,
  targetId: string,
  change: Updateable<AgentLinks>,
): Promise<boolean> {
  const result = await trx
    .updateTable('agent_links')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('kind', '=', kind)
    .where('target_id', '=', targetId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Removes a link. Returns whether it existed. */
export async function removeLink(
  trx: Transaction<DB>,
  workspaceId: string,
  agentId: string,
  kind: LinkKind,
  targetId: string,
): Promise<boolean> {
  const result = await trx
    .deleteFrom('agent_links')
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('kind', '=', kind)
    .where('target_id', '=', targetId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Removes every link of an agent. */
export async function removeLinksOf(trx: Transaction<DB>, workspaceId: string, agentId: string): Promise<void> {
  await trx.deleteFrom('agent_links').where('workspace_id', '=', workspaceId).where('agent_id', '=', agentId).execute();
}

/** Removes the links of all agents to a target. Returns the agents' ids, in ascending order. */
export async function removeLinksTo(
  trx: Transaction<DB>,
  workspaceId: string,
  kind: LinkKind,
  targetId: string,
): Promise<string[]> {
  const rows = await trx
    .deleteFrom('agent_links')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where('target_id', '=', targetId)
    .returning('agent_id')
    .execute();
  return rows.map(({ agent_id }) => agent_id).sort();
}

/** The agents that are linked to a target, in the order of their ids. */
export async function findAgentsLinkedTo(
  db: Kysely<DB>,
  workspaceId: string,
  kind: LinkKind,
  targetId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('agent_links')
    .select('agent_id')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .where('target_id', '=', targetId)
    .orderBy('agent_id')
    .execute();
  return rows.map(({ agent_id }) => agent_id);
}

/** SQL condition: the row with these columns is not linked to the agent. For the lists of what can be linked. */
export function notLinked(workspaceId: string, agentId: string, kind: LinkKind, idColumn: string): RawBuilder<boolean> {
  return sql<boolean>`not exists (select from agent_links l where l.workspace_id = ${workspaceId}
    and l.agent_id = ${agentId} and l.kind = ${kind} and l.target_id = ${sql.ref(idColumn)})`;
}
