import { fault } from '../../core/errors.ts';
import { findConversation } from '../../db/queries/conversations/conversations.ts';
import { selectMessages } from '../../db/queries/conversations/messages.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { messageBody } from './bodies.ts';

export const listConversationMessages: Handler<'listConversationMessages'> = async ({
  path,
  query,
  db,
  workspaceId,
  runtime,
  reply,
}) => {
  const conversation = await findConversation(db, workspaceId, path.conversationPublicId);
  if (!conversation) throw fault('CONVERSATION_NOT_FOUND');
  const window = windowOf(query);
  const { role, order = 'asc' } = query;
  const { rows, total } = await selectMessages(db, workspaceId, conversation.id, { role, order }, window);
  return reply(
    200,
    pageOf(
      rows.map((row) => messageBody(row, runtime)),
      total,
      window,
    ),
  );
};
