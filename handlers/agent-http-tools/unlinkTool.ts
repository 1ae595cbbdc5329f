import { unlinkTarget } from '../../domain/agents/links/links.ts';
import type { Handler } from '../handler.ts';

/** Unlink a tool from an agent. Throws AGENT_NOT_FOUND, NOT_LINKED, NO_DRAFT_VERSION. */
export const unlinkTool: Handler<'unlinkTool'> = async (context) => {
  const { agentPublicId, httpToolPublicId } = context.path;
  await unlinkTarget(context, agentPublicId, 'http_tool', httpToolPublicId);
  return context.reply(204);
};
