import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { findAutomation } from '../../db/queries/automations/automations.ts';
import type { Handler } from '../handler.ts';
import { automationBody } from './automationBody.ts';

/** Get an automation. Throws AGENT_NOT_FOUND, AUTOMATION_NOT_FOUND. */
export const getAutomation: Handler<'getAutomation'> = async ({ path, db, workspaceId, runtime, reply }) => {
  if (!(await agentExists(db, workspaceId, path.agentPublicId))) throw fault('AGENT_NOT_FOUND');
  const automation = await findAutomation(db, workspaceId, path.automationPublicId, path.agentPublicId);
  if (!automation) throw fault('AUTOMATION_NOT_FOUND');
  return reply(200, automationBody(automation, runtime));
};
