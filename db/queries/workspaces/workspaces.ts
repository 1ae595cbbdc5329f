import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { DB, Workspaces } from '../../../generated/db.ts';
import type { LimitValues } from './limits.ts';

/** A tenant with its limits. */
export type Workspace = Selectable<Workspaces>;

/**
 * Workspaces are looked after across all of them, so `db` is the system handle. Limits and the time zone that are absent are the
 * defaults of their columns; agents and operations have no limit by default.
 */
export async function insertWorkspace(
  db: Kysely<DB>,
  workspace: {
    id: string;
    name: string;
    timeZone?: string | undefined;
    limits?: LimitValues;
  },
): Promise<Workspace> {
  return await db
    .insertInto('workspaces')
    .values({
      id: workspace.id,
      name: workspace.name,
      ...workspace.limits,
      ...(workspace.timeZone === undefined ? {} : { time_zone: workspace.timeZone }),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Changes of a workspace; absent = unchanged. */
export interface WorkspaceChange {
  name?: string | undefined;
  timeZone?: string | undefined;
  /** Who decides on calls that wait for an approval; null = as the channel of the conversation says. */
  approvalsBy?: 'user' | 'operator' | null | undefined;
  limits?: LimitValues;
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
  if (before.operation_limit === null && typeof change.limits?.operation_limit === 'number') {
    await sql`
      delete from operation_usage
      where workspace_id = ${id} and month >= ${`${now.toISOString().slice(0, 7)}-01`}::date`.execute(transaction);
  }
  return await transaction
    .updateTable('workspaces')
    .set({
      name: change.name,
      time_zone: change.timeZone,
      approvals_by: change.approvalsBy,
      ...change.limits,
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
