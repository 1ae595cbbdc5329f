import { type Kysely, sql } from 'kysely';
import { cutText } from '../../../core/text.ts';
import type { DB } from '../../../generated/db.ts';
import type { ChannelConnectionRow } from './connections.ts';

/** What is wrong with the account of a connection. */
export type AccountProblem = { code: NonNullable<ChannelConnectionRow['problem_code']>; message: string };

/** How many connections of a channel type have a problem. */
export interface ChannelProblemCount {
  channel_type: string;
  problem_code: string;
  connections: number;
}

/** Characters of a problem's text: providers write long ones. */
const MAX_PROBLEM = 1000;
/** Connections that one sweep marks. The next ones are marked by the next sweep. */
const MAX_MARKED = 1000;

/** Notes that the provider has called: the connection is not silent any more. */
export async function updateLastHeard(db: Kysely<DB>, workspaceId: string, id: string, now: Date): Promise<void> {
  await sql`
    update channel_connections set last_inbound_at = ${now},
      problem_code = case when problem_code <> 'NO_WEBHOOK' then problem_code end,
      problem_message = case when problem_code <> 'NO_WEBHOOK' then problem_message end,
      problem_at = case when problem_code <> 'NO_WEBHOOK' then problem_at end
    where workspace_id = ${workspaceId} and id = ${id} and deleted_at is null
      and (last_inbound_at is null or last_inbound_at < ${now})`.execute(db);
}

/**
 * Stores what is wrong with the account of a connection, null for nothing. A problem that it has already keeps its time, so that
 * `problem_at` says since when. Writes nothing when nothing changes.
 */
export async function updateProblem(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  problem: AccountProblem | null,
  now: Date,
): Promise<void> {
  const code = problem?.code ?? null;
  const message = problem && cutText(problem.message, MAX_PROBLEM);
  await sql`
    update channel_connections set problem_code = ${code}::text, problem_message = ${message}::text,
      problem_at = case when ${code}::text is null then null when problem_code = ${code} then problem_at else ${now} end
    where workspace_id = ${workspaceId} and id = ${id} and deleted_at is null
      and (problem_code, problem_message) is distinct from (${code}::text, ${message}::text)`.execute(db);
}

/**
 * Marks active connections that their provider has not called since `before`. Returns how many it has marked.
 */
export async function markSilent(system: Kysely<DB>, before: Date, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    update channel_connections c set problem_code = 'NO_WEBHOOK', problem_at = ${now},
      problem_message = 'The provider has not called the webhook for a day.'
    from (
      select workspace_id, id from channel_connections
      where deleted_at is null and is_active and is_configured and channel_type <> 'web_chat' and problem_code is null
        and coalesce(last_inbound_at, updated_at) < ${before}
      order by coalesce(last_inbound_at, updated_at) limit ${MAX_MARKED} for update skip locked
    ) silent
    where c.workspace_id = silent.workspace_id and c.id = silent.id and c.problem_code is null`.execute(system);
  return Number(numAffectedRows ?? 0);
}

/** How many connections of all workspaces have a problem, by channel type and problem. */
export async function countProblems(system: Kysely<DB>): Promise<ChannelProblemCount[]> {
  const { rows } = await sql<ChannelProblemCount>`
    select channel_type, problem_code, count(*)::int as connections from channel_connections
    where deleted_at is null and problem_code is not null group by 1, 2`.execute(system);
  return rows;
}
