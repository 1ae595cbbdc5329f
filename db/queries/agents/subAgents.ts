import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Agents, DB } from '../../../generated/db.ts';
import { notLinked } from './agentLinks.ts';

/** Largest place in the list of sub-agents, that of a 32-bit integer. */
const LAST_PLACE = 2_147_483_647;

/**
 * Makes changes to the sub-agents of a workspace take turns until the transaction ends: two links that close a cycle only together
 * would each be allowed at the same time. Whoever holds it waits for no other lock but rows.
 */
export async function lockSubAgentLinks(trx: Transaction<DB>, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`sub-agents of ${workspaceId}`}, 0))`.execute(trx);
}

/**
 * Whether delegation could come back to the agent if it had the sub-agent: over the links of the drafts, however many. True for the
 * agent itself. The answer holds until the transaction ends if it has `lockSubAgentLinks`.
 */
export async function wouldCloseCycle(
  trx: Transaction<DB>,
  workspaceId: string,
  agentId: string,
  subAgentId: string,
): Promise<boolean> {
  // `union`, not `union all`: an agent that is reached twice is followed once.
  const { rows } = await sql<{ closes: boolean }>`
    with recursive reached (id) as (
      select ${subAgentId}::uuid
      union
      select l.target_id
      from reached r
      join agent_links l on l.workspace_id = ${workspaceId} and l.agent_id = r.id and l.kind = 'sub_agent'
    )
    select exists (select from reached where id = ${agentId}) as closes`.execute(trx);
  return rows[0]?.closes ?? false;
}

/**
 * Those agents of the list from which delegation could come back to the agent, which may be one of them, if it had them as sub-agents. The answer holds
 * until the transaction ends if it has `lockSubAgentLinks`.
 */
export async function findAbove(
  trx: Transaction<DB>,
  workspaceId: string,
  agentId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    with recursive above (id) as (
      select ${agentId}::uuid
      union
      select l.agent_id
      from above r
      join agent_links l on l.workspace_id = ${workspaceId} and l.target_id = r.id and l.kind = 'sub_agent'
    )
    select id from above where id = any (${ids}::uuid[])`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** The place behind the last sub-agent of the agent. */
export async function findPlaceAtEnd(trx: Transaction<DB>, workspaceId: string, agentId: string): Promise<number> {
  const { last } = await trx
    .selectFrom('agent_links')
    .select((each) => each.fn.max('sort_order').as('last'))
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('kind', '=', 'sub_agent')
    .executeTakeFirstOrThrow();
  return last === null ? 0 : Math.min(last + 1, LAST_PLACE);
}

/** An agent that can become a sub-agent. */
export type LinkableAgent = Pick<Selectable<Agents>, 'id' | 'name' | 'description' | 'status'>;

/** The agents that the agent could have as sub-agents, newest first: not archived, not linked, and no cycle. */
export async function listLinkableAgents(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
): Promise<LinkableAgent[]> {
  const { rows } = await sql<LinkableAgent>`
    with recursive above (id) as (
      select ${agentId}::uuid
      union
      select l.agent_id
      from above r
      join agent_links l on l.workspace_id = ${workspaceId} and l.target_id = r.id and l.kind = 'sub_agent'
    )
    select a.id, a.name, a.description, a.status
    from agents a
    where a.workspace_id = ${workspaceId} and a.deleted_at is null and a.status <> 'archived'
      and a.id not in (select id from above) and ${notLinked(workspaceId, agentId, 'sub_agent', 'a.id')}
    order by a.created_at desc, a.id desc`.execute(db);
  return rows;
}
