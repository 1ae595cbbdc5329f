import { addAgent } from '../../domain/agents/addAgent.ts';
import type { Handler } from '../handler.ts';
import { agentBody } from './agentBody.ts';

export const createAgent: Handler<'createAgent'> = async (context) => {
  const agent = await addAgent(context, context.body);
  return context.reply(201, agentBody(agent, context.runtime));
};
