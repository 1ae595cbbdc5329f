import { type AgentMetadata, changeConfig, distinctCategories } from '../../domain/agents/config/changeConfig.ts';
import type { Handler } from '../handler.ts';
import { agentBody } from './agentBody.ts';

export const updateAgent: Handler<'updateAgent'> = async (context) => {
  const { path, body, runtime, reply } = context;
  const { name, description, avatarUrl, categories, ...config } = body;
  const metadata: AgentMetadata = {};
  if (name !== undefined) metadata.name = name;
  if (description !== undefined) metadata.description = description;
  if (avatarUrl !== undefined) metadata.avatar_url = avatarUrl;
  if (categories !== undefined) metadata.categories = distinctCategories(categories);
  const agent = await changeConfig(context, path.agentPublicId, config, { metadata });
  return reply(200, agentBody(agent, runtime));
};
