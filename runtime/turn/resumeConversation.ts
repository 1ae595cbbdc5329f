import { findConversation } from '../../db/queries/conversations/conversations.ts';
import type { WorkspaceRuntime } from '../runtime.ts';
import { planBackgroundTurn, runBackgroundTurn } from './backgroundTurn.ts';

const DECIDED = '[A person has decided on the calls of tools that were waiting. Go on with the task.]';

/**
 * Continues a conversation whose waiting calls were decided by an operator, or by a message whose process died. Returns whether it
 * did, and throws what fails on the way. It can be called again after a failure: each approved call is made once.
 */
export async function resumeConversation(context: WorkspaceRuntime, conversationId: string): Promise<boolean> {
  const conversation = await findConversation(context.db, context.workspaceId, conversationId);
  if (!conversation) return false;
  const turn = await planBackgroundTurn(context, conversation, 'continuation');
  return typeof turn !== 'string' && (await runBackgroundTurn(turn, DECIDED)) === 'DONE';
}
