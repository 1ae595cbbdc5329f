import { fault } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { insertCommand } from '../../db/queries/agents/agentCommands.ts';
import { lockAgent } from '../../db/queries/agents/agents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Handler } from '../handler.ts';
import { commandBody } from './commandBody.ts';

/** Create a command. Throws AGENT_NOT_FOUND, COMMAND_NAME_TAKEN, COMMAND_SLUG_TAKEN. */
export const createCommand: Handler<'createCommand'> = async ({ path, body, db, workspaceId, clock, reply }) => {
  // A name or a word that is taken violates agent_commands_name_key or agent_commands_slug_key (db/errors.ts).
  const command = await inTransaction(db, async (trx) => {
    const agent = await lockAgent(trx, workspaceId, path.agentPublicId);
    if (!agent) throw fault('AGENT_NOT_FOUND');
    const now = clock.now();
    return insertCommand(trx, {
      workspace_id: workspaceId,
      id: newId(),
      agent_id: agent.id,
      name: body.name,
      command: body.command,
      description: body.description ?? null,
      prompt: body.prompt,
      created_at: now,
      updated_at: now,
    });
  });
  return reply(201, commandBody(command));
};
