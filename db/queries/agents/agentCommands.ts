import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { AgentCommands, DB } from '../../../generated/db.ts';
import { newestFirst } from '../shared/page.ts';

/** A slash command of an agent. */
export type CommandRow = Selectable<AgentCommands>;

function commands(db: Kysely<DB>, workspaceId: string, agentId: string) {
  return db
    .selectFrom('agent_commands')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('deleted_at', 'is', null);
}

/** The commands of an agent, newest first. */
export function selectCommands(db: Kysely<DB>, workspaceId: string, agentId: string): Promise<CommandRow[]> {
  return newestFirst(commands(db, workspaceId, agentId)).execute();
}

/** One command of an agent, if it exists. */
export function findCommand(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  id: string,
): Promise<CommandRow | undefined> {
  return commands(db, workspaceId, agentId).where('id', '=', id).executeTakeFirst();
}

/**
 * Stores a command and returns it. Fails on `agent_commands_name_key` or `agent_commands_slug_key` when the agent has one
 * of the name or the slash word already.
 */
export function insertCommand(db: Kysely<DB>, row: Insertable<AgentCommands>): Promise<CommandRow> {
  return db.insertInto('agent_commands').values(row).returningAll().executeTakeFirstOrThrow();
}

/**
 * Changes a command of an agent and returns it; undefined when it does not exist. Fails on `agent_commands_name_key` or
 * `agent_commands_slug_key` when the agent has another one of the new name or slash word.
 */
export function updateCommandRow(
  db: Kysely<DB>,
  workspaceId: string,
  agentId: string,
  id: string,
  change: Updateable<AgentCommands>,
): Promise<CommandRow | undefined> {
  return db
    .updateTable('agent_commands')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
