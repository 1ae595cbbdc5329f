import { fault } from '../../core/errors.ts';
import { selectCommands } from '../../db/queries/agents/agentCommands.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';
import { commandBody } from './commandBody.ts';

/** List the commands of an agent. Throws AGENT_NOT_FOUND. */
export const listCommands: Handler<'listCommands'> = async ({ path, db, workspaceId, reply }) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const commands = await selectCommands(db, workspaceId, path.agentPublicId);
  return reply(200, commands.map(commandBody));
};
