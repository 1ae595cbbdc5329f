import { listConversations as queryConversations } from '../../db/queries/conversations.ts';
import type { Handler } from '../handler.ts';
import { pageOf, windowOf } from '../paging.ts';
import { conversationListItem } from './bodies.ts';

export const listConversations: Handler<'listConversations'> = async ({ query, db, workspaceId, reply }) => {
  const window = windowOf(query);
  const { status, agentPublicId, externalUserId, channel, isTest, isEnded, since, until } = query;
  const { rows, total } = await queryConversations(
    db,
    workspaceId,
    {
      status,
      agentId: agentPublicId,
      externalUserId,
      channel,
      isTest,
      isEnded,
      since: since === undefined ? undefined : new Date(since),
      until: until === undefined ? undefined : new Date(until),
    },
    window,
  );
  return reply(200, pageOf(rows.map(conversationListItem), total, window));
};
