import { fault } from '../../core/errors.ts';
import { findCommand } from '../../db/queries/agents/agentCommands.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';
import { commandBody } from './commandBody.ts';

/** Get a command. Throws AGENT_NOT_FOUND, COMMAND_NOT_FOUND. */
export const getCommand: Handler<'getCommand'> = async ({ path, db, workspaceId, reply }) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const command = await findCommand(db, workspaceId, path.agentPublicId, path.commandPublicId);
  if (!command) throw fault('COMMAND_NOT_FOUND');
  return reply(200, commandBody(command));
};
