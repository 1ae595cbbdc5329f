import type { Kysely, Selectable } from 'kysely';
import type { DB, Workspaces } from '../../generated/db.ts';

/** A tenant with its limits. */
export type Workspace = Selectable<Workspaces>;

/**
 * Workspaces are looked after across all of them, so `db` is the system handle. Without an `agentLimit` or
 * `operationLimit` there is none; without a `toolLimit` it is the default of the column.
 */
export async function createWorkspace(
  db: Kysely<DB>,
  workspace: {
    id: string;
    name: string;
    agentLimit?: number | undefined;
    operationLimit?: number | undefined;
    toolLimit?: number | undefined;
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
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Every workspace that is not deleted, oldest first. `db` is the system handle. */
export async function listWorkspaces(db: Kysely<DB>): Promise<Workspace[]> {
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
