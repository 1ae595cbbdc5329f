import { fault } from '../../core/errors.ts';
import { agentExists } from '../../db/queries/agents/agents.ts';
import { dropAutomation } from '../../domain/automations/automations.ts';
import type { Handler } from '../handler.ts';

/** Delete an automation. Throws AGENT_NOT_FOUND, AUTOMATION_NOT_FOUND. */
export const deleteAutomation: Handler<'deleteAutomation'> = async (context) => {
  const { agentPublicId, automationPublicId } = context.path;
  if (!(await agentExists(context.db, context.workspaceId, agentPublicId))) throw fault('AGENT_NOT_FOUND');
  await dropAutomation(context, agentPublicId, automationPublicId);
  return context.reply(204);
};
