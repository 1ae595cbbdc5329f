import { fault } from '../../core/errors.ts';
import { findConversation } from '../../db/queries/conversations/conversations.ts';
import type { Handler } from '../handler.ts';
import { conversationBody } from './bodies.ts';

export const getConversation: Handler<'getConversation'> = async ({ path, db, workspaceId, clock, reply }) => {
  const conversation = await findConversation(db, workspaceId, path.conversationPublicId);
  if (!conversation) throw fault('CONVERSATION_NOT_FOUND');
  return reply(200, conversationBody(conversation, clock.now()));
};
