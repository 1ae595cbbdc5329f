import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { listLinkableAgents } from '../../db/queries/agents/subAgents.ts';
import type { Handler } from '../handler.ts';

/** List agents that can become sub-agents. Throws AGENT_NOT_FOUND. */
export const listAvailableSubAgents: Handler<'listAvailableSubAgents'> = async ({ path, db, workspaceId, reply }) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const agents = await listLinkableAgents(db, workspaceId, path.agentPublicId);
  return reply(
    200,
    agents.map(({ id, name, description, status }) => ({ publicId: id, name, description, status })),
  );
};
