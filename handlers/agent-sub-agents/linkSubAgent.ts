import { fault } from '../../core/errors.ts';
import { placeAtEnd, wouldCloseCycle } from '../../db/queries/agents/subAgents.ts';
import { subAgentLinkBody } from '../../domain/agents/linkSets.ts';
import { linkTarget } from '../../domain/agents/links.ts';
import type { Handler } from '../handler.ts';

/** Link a sub-agent to an agent. Throws AGENT_NOT_FOUND, SUB_AGENT_NOT_FOUND, AI_MODEL_NOT_FOUND, ALREADY_LINKED, NO_DRAFT_VERSION, SUB_AGENT_CYCLE. */
export const linkSubAgent: Handler<'linkSubAgent'> = async (context) => {
  const { path, body, workspaceId, runtime, reply } = context;
  const { subAgentPublicId, description = null, aiModelPublicId = null, sortOrder } = body;
  const link = await linkTarget(context, path.agentPublicId, 'sub_agent', subAgentPublicId, async ({ trx, agent }) => {
    if (await wouldCloseCycle(trx, workspaceId, agent.id, subAgentPublicId)) throw fault('SUB_AGENT_CYCLE');
    if (aiModelPublicId !== null && !(await runtime.findModel(trx, workspaceId, aiModelPublicId)))
      throw fault('AI_MODEL_NOT_FOUND');
    const place = sortOrder ?? (await placeAtEnd(trx, workspaceId, agent.id));
    return { description, ai_model_id: aiModelPublicId, sort_order: place };
  });
  return reply(201, subAgentLinkBody(link, runtime));
};
