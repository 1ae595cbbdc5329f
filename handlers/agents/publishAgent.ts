import { publishDraft } from '../../domain/agents/versions/publishDraft.ts';
import type { Handler } from '../handler.ts';
import { agentBody } from './agentBody.ts';

export const publishAgent: Handler<'publishAgent'> = async (context) => {
  const agent = await publishDraft(context, context.path.agentPublicId, context.body?.notes ?? null);
  return context.reply(200, agentBody(agent, context.runtime));
};
