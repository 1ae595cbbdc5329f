import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { DB, Workspaces } from '../../../generated/db.ts';

/** A tenant with its limits. */
export type Workspace = Selectable<Workspaces>;

/**
 * Workspaces are looked after across all of them, so `db` is the system handle. Without an `agentLimit` or
 * `operationLimit` there is none; without a `toolLimit` or `timeZone` it is the default of the column.
 */
export async function insertWorkspace(
  db: Kysely<DB>,
  workspace: {
    id: string;
    name: string;
    agentLimit?: number | undefined;
    operationLimit?: number | undefined;
    toolLimit?: number | undefined;
    timeZone?: string | undefined;
  },
): Promise<Workspace> {
  return await db
    .insertInto('workspaces')
    .values({
      id: workspace.id,
      name: workspace.name,
      agent_limit: workspace.agentLimit ?? null,
      operation_limit: workspace.operationLimit ?? null,
      ...(workspace.toolLimit === undefined ? {} : { tool_limit: workspace.toolLimit }),
      ...(workspace.timeZone === undefined ? {} : { time_zone: workspace.timeZone }),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Changes of a workspace; absent = unchanged, null = no limit. */
export interface WorkspaceChange {
  name?: string | undefined;
  agentLimit?: number | null | undefined;
  operationLimit?: number | null | undefined;
  toolLimit?: number | undefined;
  timeZone?: string | undefined;
}

/**
 * Changes a workspace, for the system role. Undefined when there is none. Operations are not counted while they have no limit, so one
 * that is set anew makes the next turn count the month's messages again.
 */
export async function updateWorkspaceRow(
  transaction: Transaction<DB>,
  id: string,
  change: WorkspaceChange,
  now: Date,
): Promise<Workspace | undefined> {
  const before = await transaction
    .selectFrom('workspaces')
    .select('operation_limit')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (!before) return undefined;
  if (before.operation_limit === null && typeof change.operationLimit === 'number') {
    await sql`
      delete from operation_usage
      where workspace_id = ${id} and month >= ${`${now.toISOString().slice(0, 7)}-01`}::date`.execute(transaction);
  }
  return await transaction
    .updateTable('workspaces')
    .set({
      name: change.name,
      agent_limit: change.agentLimit,
      operation_limit: change.operationLimit,
      tool_limit: change.toolLimit,
      time_zone: change.timeZone,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Every workspace that is not deleted, oldest first. `db` is the system handle. */
export async function selectWorkspaces(db: Kysely<DB>): Promise<Workspace[]> {
  return await db
    .selectFrom('workspaces')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** One workspace, unless it is deleted. Works with the system handle and with the workspace's own. */
export async function findWorkspace(db: Kysely<DB>, id: string): Promise<Workspace | undefined> {
  return await db
    .selectFrom('workspaces')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}
