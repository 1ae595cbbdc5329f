import { addAutomation, triggerForNew } from '../../domain/automations/automations.ts';
import type { Handler } from '../handler.ts';
import { automationBody } from './automationBody.ts';

/**
 * Create an automation. Throws AGENT_NOT_FOUND, INVALID_CRON, INVALID_TIMEZONE, UNKNOWN_TRIGGER, AUTOMATION_NAME_TAKEN, VALIDATION_ERROR,
 * TOOLKIT_REGISTRY_UNAVAILABLE, and RATE_LIMITED at the workspace's limit.
 */
export const createAutomation: Handler<'createAutomation'> = {
  async prepare(request) {
    const trigger = await triggerForNew(request, request.body);
    return async (context) => {
      const { path, body, runtime, reply } = context;
      const { automation, secret } = await addAutomation(context, path.agentPublicId, body, trigger);
      return reply(201, automationBody(automation, runtime, secret));
    };
  },
};
