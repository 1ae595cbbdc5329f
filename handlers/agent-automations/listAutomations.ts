import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { selectAutomations } from '../../db/queries/automations/automations.ts';
import type { Handler } from '../handler.ts';
import { automationBody } from './automationBody.ts';

/** List an agent's automations. Throws AGENT_NOT_FOUND. */
export const listAutomations: Handler<'listAutomations'> = async ({ path, db, workspaceId, runtime, reply }) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const automations = await selectAutomations(db, workspaceId, path.agentPublicId);
  return reply(
    200,
    automations.map((row) => automationBody(row, runtime)),
  );
};
