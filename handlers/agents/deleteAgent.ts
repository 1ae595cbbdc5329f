import { fault } from '../../core/errors.ts';
import { softDeleteAgent } from '../../db/queries/agents.ts';
import type { Handler } from '../handler.ts';

export const deleteAgent: Handler<'deleteAgent'> = async ({ path, db, workspaceId, clock, reply }) => {
  if (!(await softDeleteAgent(db, workspaceId, path.agentPublicId, clock.now()))) throw fault('AGENT_NOT_FOUND');
  return reply(204);
};
