import { dropAgent } from '../../domain/agents/dropAgent.ts';
import type { Handler } from '../handler.ts';

export const deleteAgent: Handler<'deleteAgent'> = async (context) => {
  await dropAgent(context, context.path.agentPublicId);
  return context.reply(204);
};
