import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';
import { agentBody } from './agentBody.ts';

export const getAgent: Handler<'getAgent'> = async ({ path, db, workspaceId, runtime, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return reply(200, agentBody(agent, runtime));
};
