import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DB } from '../../../generated/db.ts';

const monthOf = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`;

/**
 * Common table expressions that take one from the workspace's quota of the month: `taken` has a row if the limit leaves one. Exact
 * however many take at once: the row of operation_usage is the counter. A workspace without a limit is not counted here, so its messages do
 * not queue for one row; the first count of a month therefore begins with what its messages add up to. Nothing is taken where
 * `condition` is false.
 */
export function takingFromQuota(
  workspaceId: string,
  now: Date,
  condition: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  const month = monthOf(now);
  return sql`workspace as (
      select id, operation_limit from workspaces where id = ${workspaceId} and operation_limit is not null and ${condition}
    ), used as (
      select coalesce(sum(cost_ops), 0) as operations from messages
      where exists (select from workspace) and workspace_id = ${workspaceId} and cost_ops > 0 and sent_at >= ${month}::date::timestamp at time zone 'UTC'
        and not exists (select from operation_usage where workspace_id = ${workspaceId} and month = ${month}::date)
    ), taken as (
      insert into operation_usage (workspace_id, month, operations)
      select workspace.id, ${month}::date, used.operations + 1 from workspace, used
      where used.operations < workspace.operation_limit
      on conflict (workspace_id, month) do update set operations = operation_usage.operations + 1
      where operation_usage.operations < (select operation_limit from workspace)
      returning 1
    )`;
}

/** SQL condition for statements with `takingFromQuota`: one was taken, or the workspace has no limit any more. */
export const quotaTaken: RawBuilder<boolean> = sql<boolean>`(exists (select from taken) or not exists (select from workspace))`;

/** Takes one from the workspace's quota of the month. Returns false at the limit. */
export async function takeFromQuota(db: Kysely<DB>, workspaceId: string, now: Date): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    with ${takingFromQuota(workspaceId, now)} select ${quotaTaken} as taken`.execute(db);
  return rows[0]?.taken === true;
}

/** SQL statement: gives back what was taken from the quota at `now`, where `condition` is true. */
export function returningToQuota(workspaceId: string, now: Date, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update operation_usage set operations = operations - 1
    where workspace_id = ${workspaceId} and month = ${monthOf(now)}::date and operations > 0 and ${condition}`;
}

/**
 * Gives back what a turn took from the quota at `now`, unless the turn is stored: the response to the statement that stored it can be lost. What
 * a stored turn took comes back with the statement that ends it without a reply, so that no two processes give it back.
 */
export async function returnToQuota(db: Kysely<DB>, workspaceId: string, turnId: string, now: Date): Promise<void> {
  const isNotStored = sql`not exists (select from turns where workspace_id = ${workspaceId} and id = ${turnId})`;
  await returningToQuota(workspaceId, now, isNotStored).execute(db);
}

/** Whether the workspace has used its quota of the month. Nothing is taken. */
export async function isQuotaUsed(db: Kysely<DB>, workspaceId: string, now: Date): Promise<boolean> {
  const month = monthOf(now);
  const { rows } = await sql<{ used: boolean }>`
    select operation_limit is not null and operation_limit <= coalesce(
      (select operations from operation_usage where workspace_id = ${workspaceId} and month = ${month}::date),
      (select sum(cost_ops) from messages
        where workspace_id = ${workspaceId} and cost_ops > 0 and sent_at >= ${month}::date::timestamp at time zone 'UTC'), 0) as used
    from workspaces where id = ${workspaceId}`.execute(db);
  return rows[0]?.used === true;
}
