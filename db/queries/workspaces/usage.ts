import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

/** What a workspace used in a month. Turns count to the month in which they began, messages to that in which they were sent. */
export interface MonthUsage {
  /** Of the messages that were answered. */
  operations: number;
  /** What the limit is compared with: also has operations of turns that run, or whose process died. Null while there is no limit. */
  operationsCounted: number | null;
  /** All turns that began, whatever their result. */
  turns: number;
  /** Those among them that failed or were interrupted. */
  turnsFailed: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** What an agent used of a model. */
export interface ModelUsage {
  agentId: string;
  agentName: string | null;
  provider: string | null;
  model: string;
  /** Calls of the model, failed ones too. */
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** A month in UTC: its first moment, and that of the next. */
export interface Month {
  start: Date;
  end: Date;
}

/** The month of `YYYY-MM`. */
export function monthNamed(name: string): Month {
  const [year = 0, month = 0] = name.split('-').map(Number);
  return { start: new Date(Date.UTC(year, month - 1)), end: new Date(Date.UTC(year, month)) };
}

/** What a workspace used in a month. A turn's usage is stored when it ends; for turns that have not ended, the steps are added up. */
export async function monthUsage(db: Kysely<DB>, workspaceId: string, { start, end }: Month): Promise<MonthUsage> {
  const { rows } = await sql<MonthUsage>`
    select
      (select coalesce(sum(cost_ops), 0) from messages
       where workspace_id = ${workspaceId} and sent_at >= ${start} and sent_at < ${end}) as operations,
      (select operations from operation_usage
       where workspace_id = ${workspaceId} and month = ${start.toISOString().slice(0, 10)}::date) as "operationsCounted",
      count(*) as turns,
      count(*) filter (where t.status in ('failed', 'interrupted')) as "turnsFailed",
      coalesce(sum(coalesce(unfinished.input, t.input_tokens)), 0) as "inputTokens",
      coalesce(sum(coalesce(unfinished.output, t.output_tokens)), 0) as "outputTokens",
      coalesce(sum(coalesce(unfinished.cost, t.cost_usd)), 0) as "costUsd"
    from turns t
    cross join lateral (
      select sum(input_tokens) as input, sum(output_tokens) as output, sum(cost_usd) as cost from turn_steps s
      where s.workspace_id = ${workspaceId} and s.turn_id = t.id and t.status = 'running'
    ) as unfinished
    where t.workspace_id = ${workspaceId} and t.started_at >= ${start} and t.started_at < ${end}`.execute(db);
  const row = rows[0];
  if (!row) throw new Error('An aggregate answered without a row.');
  return row;
}

/** The same by agent and model, most expensive first. */
export async function modelUsage(db: Kysely<DB>, workspaceId: string, { start, end }: Month): Promise<ModelUsage[]> {
  const { rows } = await sql<ModelUsage>`
    select s.agent_id as "agentId", a.name as "agentName", s.provider, s.name as model, count(*) as calls,
      coalesce(sum(s.input_tokens), 0) as "inputTokens", coalesce(sum(s.output_tokens), 0) as "outputTokens",
      coalesce(sum(s.cost_usd), 0) as "costUsd"
    from turns t
    join turn_steps s on s.workspace_id = t.workspace_id and s.turn_id = t.id and s.kind = 'model'
    left join agents a on a.workspace_id = s.workspace_id and a.id = s.agent_id
    where t.workspace_id = ${workspaceId} and t.started_at >= ${start} and t.started_at < ${end}
    group by s.agent_id, a.name, s.provider, s.name
    order by "costUsd" desc, calls desc, s.agent_id, s.name`.execute(db);
  return rows;
}
