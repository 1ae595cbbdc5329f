import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import type { Handler } from '../handler.ts';
import { promptBody } from './promptBody.ts';

export const getAgentPrompt: Handler<'getAgentPrompt'> = async ({ path, db, workspaceId, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  return reply(200, await promptBody(db, agent));
};
