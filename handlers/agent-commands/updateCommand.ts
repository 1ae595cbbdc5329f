import { fault } from '../../core/errors.ts';
import { findCommand, updateCommandRow } from '../../db/queries/agents/agentCommands.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';
import { commandBody } from './commandBody.ts';

/** Change a command. Throws AGENT_NOT_FOUND, COMMAND_NOT_FOUND, COMMAND_NAME_TAKEN, COMMAND_SLUG_TAKEN. */
export const updateCommand: Handler<'updateCommand'> = async ({ path, body, db, workspaceId, clock, reply }) => {
  const { agentPublicId: agentId, commandPublicId: id } = path;
  if (!(await agentExists(db, workspaceId, agentId))) throw fault('AGENT_NOT_FOUND');
  const nothing = Object.keys(body).length === 0;
  // A name or a word that is taken violates agent_commands_name_key or agent_commands_slug_key (db/errors.ts).
  const command = nothing
    ? await findCommand(db, workspaceId, agentId, id)
    : await updateCommandRow(db, workspaceId, agentId, id, { ...body, updated_at: clock.now() });
  if (!command) throw fault('COMMAND_NOT_FOUND');
  return reply(200, commandBody(command));
};
