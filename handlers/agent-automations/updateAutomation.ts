import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { changeAutomation } from '../../domain/automations/automations.ts';
import type { Handler } from '../handler.ts';
import { automationBody } from './automationBody.ts';

/**
 * Change an automation. Throws AGENT_NOT_FOUND, AUTOMATION_NOT_FOUND, INVALID_CRON, INVALID_TIMEZONE, UNKNOWN_TRIGGER,
 * AUTOMATION_NAME_TAKEN, VALIDATION_ERROR and TOOLKIT_REGISTRY_UNAVAILABLE.
 */
export const updateAutomation: Handler<'updateAutomation'> = async (context) => {
  const { path, body, db, workspaceId, runtime, reply } = context;
  const { agentPublicId: agentId, automationPublicId: id } = path;
  if (!(await agentExists(db, workspaceId, agentId))) throw fault('AGENT_NOT_FOUND');
  const { automation, secret } = await changeAutomation(context, agentId, id, body);
  return reply(200, automationBody(automation, runtime, secret));
};
