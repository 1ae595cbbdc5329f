import { addSubAgent } from '../../domain/agents/links/subAgentLinks.ts';
import { subAgentLinkBody } from '../agents/linkBodies.ts';
import type { Handler } from '../handler.ts';

/** Link a sub-agent to an agent. Throws AGENT_NOT_FOUND, SUB_AGENT_NOT_FOUND, AI_MODEL_NOT_FOUND, ALREADY_LINKED, NO_DRAFT_VERSION, SUB_AGENT_CYCLE. */
export const linkSubAgent: Handler<'linkSubAgent'> = async (context) => {
  const { path, body, runtime, reply } = context;
  const { subAgentPublicId, description = null, aiModelPublicId: aiModelId = null, sortOrder } = body;
  const settings = { description, aiModelId, sortOrder };
  const link = await addSubAgent(context, path.agentPublicId, subAgentPublicId, settings);
  return reply(201, subAgentLinkBody(link, runtime));
};
