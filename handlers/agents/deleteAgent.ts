import { dropAgent } from '../../domain/agents/dropAgent.ts';
import { releaseRegistryTriggers } from '../../domain/automations/registryTriggers.ts';
import type { Handler } from '../handler.ts';

export const deleteAgent: Handler<'deleteAgent'> = async (context) => {
  const automations = await dropAgent(context, context.path.agentPublicId);
  void releaseRegistryTriggers(context, automations);
  return context.reply(204);
};
