import { fault } from '../../core/errors.ts';
import { findAgent } from '../../db/queries/agents/agents.ts';
import { selectVariables } from '../../db/queries/agents/agentVariables.ts';
import { referencedNames } from '../../runtime/variables/variables.ts';
import type { Handler } from '../handler.ts';
import { variableBody } from './variableBody.ts';

export const listVariables: Handler<'listVariables'> = async ({ path, query, db, workspaceId, reply }) => {
  const agent = await findAgent(db, workspaceId, path.agentPublicId);
  if (!agent) throw fault('AGENT_NOT_FOUND');
  const variables = await selectVariables(db, workspaceId, agent.id);
  if (query.includeOrphaned ?? true) return reply(200, variables.map(variableBody));
  const names = referencedNames(agent.system_prompt ?? '');
  return reply(200, variables.filter(({ name }) => names.has(name)).map(variableBody));
};
