import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';
import { agentModelBody } from './modelBody.ts';

export const getAgentModel: Handler<'getAgentModel'> = async ({ path, db, workspaceId, runtime, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return reply(200, await agentModelBody(db, agent, runtime));
};
