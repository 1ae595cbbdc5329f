import { fault } from '../../core/errors.ts';
import { updateCommandRow } from '../../db/queries/agents/agentCommands.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';

/** Delete a command. Throws AGENT_NOT_FOUND, COMMAND_NOT_FOUND. */
export const deleteCommand: Handler<'deleteCommand'> = async ({ path, db, workspaceId, clock, reply }) => {
  const { agentPublicId: agentId, commandPublicId: id } = path;
  if (!(await agentExists(db, workspaceId, agentId))) throw fault('AGENT_NOT_FOUND');
  const deleted = await updateCommandRow(db, workspaceId, agentId, id, { deleted_at: clock.now() });
  if (!deleted) throw fault('COMMAND_NOT_FOUND');
  return reply(204);
};
