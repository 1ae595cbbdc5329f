import { changeConfig } from '../../domain/agents/config/changeConfig.ts';
import type { Handler } from '../handler.ts';
import { agentModelBody } from './modelBody.ts';

export const updateAgentModel: Handler<'updateAgentModel'> = async (context) => {
  const { path, body, db, runtime, reply } = context;
  const agent = await changeConfig(context, path.agentPublicId, body);
  return reply(200, await agentModelBody(db, agent, runtime));
};
