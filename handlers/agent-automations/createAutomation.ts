import { ApiError } from '../../core/errors.ts';
import { databaseFault } from '../../db/errors.ts';
import { addAutomation, prepareTrigger } from '../../domain/automations/automations.ts';
import { releaseRegistryTrigger } from '../../domain/automations/registryTriggers.ts';
import type { Handler } from '../handler.ts';
import { automationBody } from './automationBody.ts';

/**
 * Create an automation. Throws AGENT_NOT_FOUND, INVALID_CRON, INVALID_TIMEZONE, UNKNOWN_TRIGGER, AUTOMATION_NAME_TAKEN, VALIDATION_ERROR,
 * TOOLKIT_REGISTRY_UNAVAILABLE, and RATE_LIMITED at the workspace's limit.
 */
export const createAutomation: Handler<'createAutomation'> = {
  async prepare(request) {
    const trigger = await prepareTrigger(request, request.body);
    return async (context) => {
      const { path, body, runtime, reply } = context;
      try {
        const { automation, secret } = await addAutomation(context, path.agentPublicId, body, trigger);
        return reply(201, automationBody(automation, runtime, secret));
      } catch (error) {
        // Refused for good, and not to be tried again: the trigger was started for nothing.
        const refused = error instanceof ApiError ? error : databaseFault(error);
        if (refused && refused.status < 500) void releaseRegistryTrigger(request, trigger?.registryTriggerId ?? null);
        throw error;
      }
    };
  },
};
