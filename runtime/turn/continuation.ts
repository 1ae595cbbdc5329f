import { findConversation } from '../../db/queries/conversations/conversations.ts';
import type { TurnContext } from './types.ts';
import { planUnasked, runUnasked } from './unasked.ts';

const DECIDED = '[A person has decided on the calls of tools that were waiting. Go on with the task.]';

/**
 * Goes on with a conversation whose waiting calls were decided by another way than a message. Answers whether it did; throws what
 * fails on the way. It can be asked for again then: approved calls are made once.
 */
export async function continueConversation(context: TurnContext, conversationId: string): Promise<boolean> {
  const conversation = await findConversation(context.db, context.workspaceId, conversationId);
  if (!conversation) return false;
  const plan = await planUnasked(context, conversation, 'continuation');
  return typeof plan !== 'string' && (await runUnasked(context, plan, DECIDED)) === 'DONE';
}
