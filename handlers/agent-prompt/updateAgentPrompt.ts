import { changeConfig } from '../../domain/agents/config/changeConfig.ts';
import type { Handler } from '../handler.ts';
import { promptBody } from './promptBody.ts';

export const updateAgentPrompt: Handler<'updateAgentPrompt'> = async (context) => {
  const { path, body, db, reply } = context;
  const agent = await changeConfig(context, path.agentPublicId, body);
  return reply(200, await promptBody(db, agent));
};
