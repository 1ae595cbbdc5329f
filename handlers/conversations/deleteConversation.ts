import { fault } from '../../core/errors.ts';
import { softDeleteConversation } from '../../db/queries/conversations.ts';
import type { Handler } from '../handler.ts';

export const deleteConversation: Handler<'deleteConversation'> = async ({ path, db, workspaceId, clock, reply }) => {
  const deleted = await softDeleteConversation(db, workspaceId, path.conversationPublicId, clock.now());
  if (!deleted) throw fault('CONVERSATION_NOT_FOUND');
  return reply(204);
};
