import { unlinkTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** Unlink a sub-agent from an agent. Throws AGENT_NOT_FOUND, SUB_AGENT_NOT_FOUND, NOT_LINKED, NO_DRAFT_VERSION. */
export const unlinkSubAgent: Handler<'unlinkSubAgent'> = async (context) => {
  const { agentPublicId, subAgentPublicId } = context.path;
  await unlinkTarget(context, agentPublicId, 'sub_agent', subAgentPublicId);
  return context.reply(204);
};
