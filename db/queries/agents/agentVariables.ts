import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { AgentVariables, DB } from '../../../generated/db.ts';

/** A variable of an agent's prompt. */
export type VariableRow = Selectable<AgentVariables>;

/** The variables of an agent in their order. */
export function selectVariables(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<VariableRow[]> {
  return db
    .selectFrom('agent_variables')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .orderBy('sort_order')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** One variable of an agent, if it exists. */
export function findVariable(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  id: string,
): Promise<VariableRow | undefined> {
  return db
    .selectFrom('agent_variables')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Stores a variable and returns it. Fails on `agent_variables_name_key` when the agent has one of the name already. */
export function insertVariable(db: Kysely<DB>, row: Insertable<AgentVariables>): Promise<VariableRow> {
  return db.insertInto('agent_variables').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Rows of one statement. PostgreSQL takes no more than 65,535 parameters in one. */
const MAX_INSERTED = 500;

/** Stores variables. Fails on `agent_variables_name_key` when the agent has one of a name already. */
export async function insertVariables(db: Kysely<DB>, rows: Insertable<AgentVariables>[]): Promise<void> {
  for (let from = 0; from < rows.length; from += MAX_INSERTED) {
    const some = rows.slice(from, from + MAX_INSERTED);
    await db.insertInto('agent_variables').values(some).execute();
  }
}

/** Changes a variable and returns it. Fails on `agent_variables_name_key` when the agent has one of the new name already. */
export function updateVariableRow(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
  change: Updateable<AgentVariables>,
): Promise<VariableRow> {
  return db
    .updateTable('agent_variables')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Removes a variable for good. */
export async function removeVariable(db: Kysely<DB>, workspaceId: string, id: string): Promise<void> {
  await db.deleteFrom('agent_variables').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
}

/** Removes every variable of an agent. */
export async function removeVariables(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<void> {
  await db
    .deleteFrom('agent_variables')
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .execute();
}
